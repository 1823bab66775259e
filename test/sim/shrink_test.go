package sim

import (
	"math/rand/v2"
	"slices"
	"strings"
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
	var left []string
	for _, s := range short.Steps {
		left = append(left, s.Text)
	}
	if !slices.Equal(left, []string{"first", "last"}) || short.Fault.At != 2 {
		t.Errorf("this was left:\n%s", short.Format())
	}
}

// TestShrinkLeavesWhatALifeNeeds has no life fail for another reason.
func TestShrinkLeavesWhatALifeNeeds(t *testing.T) {
	const record = "kind: DNSRecord\nmetadata: {name: n1, namespace: a}\n"
	for _, c := range []struct {
		name  string
		steps []Step
		needs string // the step without which nothing fails
		want  []string
	}{
		{"What is wrong ends.", []Step{
			{Text: "down s"}, {Text: "wait 1s"}, {Text: "up s", mends: true},
		}, "down s", []string{"down s", "up s"}},
		{"What was not wrong does not end.", []Step{
			{Text: "down s"}, {Text: "up s", mends: true}, {Text: "whole s", mends: true}, {Text: "up r", mends: true},
		}, "down s", []string{"down s", "up s"}},
		{"What is wrong once more ends once more.", []Step{
			{Text: "down s"}, {Text: "up s", mends: true}, {Text: "silent s"}, {Text: "up s", mends: true},
		}, "silent s", []string{"silent s", "up s"}},
		{"A key and its Secret come together.", []Step{
			{Text: "webhook s one"}, {Text: "begin homelab"}, {Text: "webhook s two"}, {Text: "down s"},
			{Text: "up s", mends: true}, {Text: "apply", Data: []byte("kind: Secret\n"), mends: true},
		}, "webhook s two", []string{"webhook s two", "apply"}},
		{"Watches are on time again.", []Step{
			{Text: "late zones 10m"}, {Text: "late zones 0s", mends: true}, {Text: "late records 0s", mends: true},
		}, "late zones 10m", []string{"late zones 10m", "late zones 0s"}},
		{"Who is asked what becomes of a trouble is asked.", []Step{
			{Text: "apply", Data: []byte(record)}, {Text: "gone 3m"}, {Text: "annotate DNSRecord a/n1 asks=so", mends: true},
		}, "gone 3m", []string{"gone 3m"}},
		{"Nothing is done to what nobody makes.", []Step{
			{Text: "apply", Data: []byte(record)}, {Text: "annotate DNSRecord a/n1 asks=so"}, {Text: "delete DNSRecord a/n1"},
			{Text: "down s"},
		}, "down s", []string{"down s"}},
		{"A turn keeps its pauses.", []Step{
			{Text: "wait 5m", turn: 1}, {Text: "keep s o.", turn: 1}, {Text: "wait 30s"}, {Text: "wait 5m", turn: 2},
			{Text: "lose s o.", turn: 2}, {Text: "wait 80m", turn: 2}, {Text: "wait 5m", turn: 3}, {Text: "forget s", turn: 3},
		}, "lose s o.", []string{"wait 5m", "lose s o.", "wait 80m"}},
		{"Objects of one step are taken apart.", []Step{
			{Text: "apply", Data: []byte("kind: Zone\n---\nkind: Backend\n")}, {Text: "wait 1s"},
		}, "apply kind: Zone\n", []string{"apply"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			short := Shrink(Life{Steps: c.steps}, func(l Life) (Life, bool) {
				return l, slices.ContainsFunc(l.Steps, func(s Step) bool {
					return s.Text == c.needs || s.Text+" "+string(s.Data) == c.needs
				})
			})
			var left []string
			for _, s := range short.Steps {
				left = append(left, s.Text)
			}
			if !slices.Equal(left, c.want) {
				t.Errorf("%q was left, and not %q", left, c.want)
			}
		})
	}
}

// TestShrinkLeavesOutTwo that need each other.
func TestShrinkLeavesOutTwo(t *testing.T) {
	l := Life{Steps: []Step{{Text: "one"}, {Text: "two"}, {Text: "three"}, {Text: "four"}}}
	short := Shrink(l, func(l Life) (Life, bool) {
		has := func(text string) bool {
			return slices.ContainsFunc(l.Steps, func(s Step) bool { return s.Text == text })
		}
		return l, has("two") && has("one") == has("four")
	})
	if len(short.Steps) != 1 || short.Steps[0].Text != "two" {
		t.Errorf("this was left:\n%s", short.Format())
	}
}

// TestWays are the same whatever a life is about.
func TestWays(t *testing.T) {
	calm := Outcome{State: "Zone a/n1\n{\n \"spec\": 1\n}\nserver 192.0.2.1:53\n example.org. 300 ns. hm.\n  x A 1\n"}
	for _, c := range []struct {
		name string
		out  Outcome
		want []string
	}{
		{"It ends alike.", calm, nil},
		{"An SOA is nobody's.", Outcome{State: strings.ReplaceAll(calm.State, "300", "60")}, nil},
		{"A server has something else.", Outcome{State: strings.ReplaceAll(calm.State, "x A 1", "x A 2")},
			[]string{"another end of a server"}},
		{"An object is missing.", Outcome{State: calm.State[strings.Index(calm.State, "server"):]},
			[]string{"another end of a Zone"}},
		{"Two messages are alike.", Outcome{State: calm.State, Wrong: []string{
			"Record a/n1 is Ready, and no server has it", "Record b/n22 is Ready, and no server has it",
			"192.0.2.1:53 has\nA\nand not\nB",
		}}, []string{"* has", "Record * is Ready, and no server has it"}},
	} {
		if ways := c.out.Ways(calm); !slices.Equal(ways, c.want) {
			t.Errorf("%s: %q, not %q", c.name, ways, c.want)
		}
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
