package controller

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/zonefold/zonefold/internal/zone"
)

func TestASentenceEndsInOneFullStop(t *testing.T) {
	for _, c := range []struct{ name, message, want string }{
		{"it ends with a domain name", "The server does not know key zonefold..", "The server does not know key zonefold."},
		{"it ends as it should", "The Backend can be used.", "The Backend can be used."},
		{"it was cut", "It is long...", "It is long..."},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, o := range []Outcome{OK(ReasonReady, c.message), Not(ReasonPending, c.message)} {
				if o.Message != c.want {
					t.Errorf("%q, want %q", o.Message, c.want)
				}
			}
		})
	}
}

// TestOnlyMistakesAreFinal: what something else can put right is not Stalled.
func TestOnlyMistakesAreFinal(t *testing.T) {
	old := Conditions{Generation: 1, Now: time.Unix(1e9, 0)}
	old.Set(ConditionReady, Not(string(zone.InvalidData), "The data are wrong."))
	for sentence, c := range map[string]struct {
		kind string
		o    Outcome
		want string // Stalled, as reason, message and since when
	}{
		"the data are wrong": {ConditionReady, Not(string(zone.InvalidData), "They are wrong."),
			"InvalidData They are wrong. 1000000000"},
		"fields contradict":         {ConditionReady, Not(ReasonInvalidSpec, "They do."), "InvalidSpec They do. 1000000000"},
		"the server is down":        {ConditionReady, Not(ReasonUnavailable, "It is down."), ""},
		"no rule allows it":         {ConditionReady, Not(string(zone.NotDelegated), "None does."), ""},
		"it is ready":               {ConditionReady, OK(ReasonReady, "It is."), ""},
		"another condition says so": {ConditionAccepted, Not(string(zone.InvalidData), "They are wrong."), ""},
	} {
		now := Conditions{Old: old.List(), Generation: 2, Now: time.Unix(2e9, 0)}
		now.Set(c.kind, c.o)
		got := ""
		if s := meta.FindStatusCondition(now.List(), ConditionStalled); s != nil {
			got = fmt.Sprintf("%s %s %d", s.Reason, s.Message, s.LastTransitionTime.Unix())
		}
		if got != c.want {
			t.Errorf("%s: Stalled says %q, not %q", sentence, got, c.want)
		}
	}
}
