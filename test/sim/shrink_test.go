package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestShrinkLeavesOutWhatALifeFailsWithout(t *testing.T) {
	l := RandomLife(rand.New(rand.NewPCG(7, 0)), 30, "") // it is to be repeated
	l.Steps[3].Text, l.Steps[len(l.Steps)-1].Text = "first", "last"
	short := Shrink(l, func(l Life) (Life, bool) {
		has := func(text string) bool {
			return slices.ContainsFunc(l.Steps, func(s Step) bool { return s.Text == text })
		}
		l.Fault = Fault{Kind: CrashAfter, At: len(l.Steps)}
		return l, has("first") && has("last")
	})
	if len(short.Steps) != 2 || short.Fault.At != 2 {
		t.Errorf("this was left:\n%s", short.Format())
	}
}

func TestALifeIsTheSameForTheSameSeed(t *testing.T) {
	// that is asked
	of := func(seed uint64) string { return string(RandomLife(rand.New(rand.NewPCG(seed, 0)), 30, "").Format()) }
	first, again := of(1), of(1)
	if first != again || first == of(2) {
		t.Error("a life is told by its seed")
	}
	l, err := ParseLife([]byte(of(1)))
	if err != nil || string(l.Format()) != of(1) {
		t.Errorf("it is not read as it was written: %v", err)
	}
}
