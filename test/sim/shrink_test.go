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
	left := 2
	for _, s := range short.Steps {
		if s.mends {
			left++
		}
	}
	if len(short.Steps) != left || short.Fault.At != left {
		t.Errorf("this was left:\n%s", short.Format())
	}
}

func TestShrinkLeavesWhatEndsATrouble(t *testing.T) {
	l := Life{Steps: []Step{
		{Text: "down 192.0.2.1:53"}, {Text: "apply", Data: []byte(`apiVersion: extensions.gardener.cloud/v1alpha1
kind: DNSRecord
metadata: {name: n1, namespace: a}`)},
		{Text: "up 192.0.2.1:53", mends: true}, {Text: "annotate DNSRecord a/n1 asks=so", mends: true},
	}}
	short := Shrink(l, func(l Life) (Life, bool) { return l, l.Steps[0].Text[:4] == "down" })
	if len(short.Steps) != 2 || !short.Steps[1].mends {
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
