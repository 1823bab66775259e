package gardener_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/gardener"
)

func TestARecordIsCreatedChangedAndRemoved(t *testing.T) {
	each(t, func(t *testing.T, start func(t *testing.T, names ...string) *site) {
		s := start(t, "example.org", "sub.example.org")
		w := newWorld(t)
		w.secret("creds", s.secret)
		w.record("api", s.kind+" creds A api.sub.example.org 192.0.2.1 192.0.2.2")
		w.until("api", "Create Succeeded")
		w.holds(s, "A api.sub.example.org", "120 192.0.2.1 192.0.2.2")
		o := w.get("api")
		if o.Status.Zone == nil || strings.TrimSuffix(*o.Status.Zone, ".") != "sub.example.org" ||
			o.Status.ObservedGeneration != o.Generation || o.Status.LastOperation.Progress != 100 ||
			len(o.Status.Conditions) != 1 || o.Status.Conditions[0].Status != "True" ||
			!slices.Contains(o.Finalizers, v1alpha1.Finalizer) {
			t.Errorf("the object is %+v", o)
		}
		w.record("api", s.kind+" creds A api.sub.example.org 192.0.2.3", "ttl: 60")
		w.ask("api", "reconcile")
		w.until("api", "Reconcile Succeeded")
		w.holds(s, "A api.sub.example.org", "60 192.0.2.3")
		w.delete("api")
		w.until("api", "gone")
		w.holds(s, "A api.sub.example.org", "")
	})
}

func TestEveryTypeIsServed(t *testing.T) {
	each(t, func(t *testing.T, start func(t *testing.T, names ...string) *site) {
		s := start(t, "example.org")
		w := newWorld(t)
		w.secret("creds", s.secret)
		for i, c := range []struct{ record, question, want string }{
			{"A *.ingress.example.org 192.0.2.1", "A *.ingress.example.org", "120 192.0.2.1"},
			{"AAAA api.example.org 2001:DB8::1", "AAAA api.example.org", "120 2001:db8::1"},
			{"CNAME www.example.org other.example.com", "CNAME www.example.org", "120 other.example.com."},
			{"TXT _acme.example.org text " + strings.Repeat("x", 300), "TXT _acme.example.org", `120 "text" "` + strings.Repeat(
				"x", 255) + `" "` + strings.Repeat("x", 45) + `"`},
		} {
			name := fmt.Sprint("r", i)
			w.record(name, s.kind+" creds "+c.record)
			w.until(name, "Create Succeeded")
			w.holds(s, c.question, c.want)
		}
	})
}

func TestAChangeWaitsUntilSomebodyAsks(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	w.record("api", "powerdns creds A api.example.org 192.0.2.2")
	w.record("beside", "powerdns creds A beside.example.org 192.0.2.9") // the event of the change comes first
	w.until("beside", "Create Succeeded")
	if o := w.get("api"); o.Status.ObservedGeneration == o.Generation || w.dig(s, "A api.example.org") != "120 192.0.2.1" {
		t.Errorf("a change was carried out that nobody asked for: %+v", o.Status)
	}
	w.ask("api", "reconcile")
	w.until("api", "Reconcile Succeeded")
	w.holds(s, "A api.example.org", "120 192.0.2.2")

	// Nothing has changed, and it is asked for: gardenlet wants a newer time, and what somebody else has written goes.
	before := w.get("api").Status.LastOperation.LastUpdateTime
	stranger(t, s, "api.example.org", "203.0.113.1")
	w.eventually("a second", func() string {
		if time.Since(before.Time) < time.Second {
			return "it is the same second"
		}
		return ""
	})
	w.ask("api", "reconcile")
	w.until("api", "Reconcile Succeeded")
	w.holds(s, "A api.example.org", "120 192.0.2.2")
	if after := w.get("api").Status.LastOperation.LastUpdateTime; !after.After(before.Time) {
		t.Errorf("the time of the last operation is %s, and was %s", after, before)
	}
}

func TestAChangeIsCarriedOutWithoutAnAnnotation(t *testing.T) {
	s := startBIND(t, "example.org")
	w := newWorld(t, func(c *gardener.Config) { c.Trigger.IgnoreAnnotation = true })
	w.secret("creds", s.secret)
	w.record("api", "rfc2136 creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	w.record("api", "rfc2136 creds A api.example.org 192.0.2.2")
	w.until("api", "Reconcile Succeeded")
	w.holds(s, "A api.example.org", "120 192.0.2.2")
	w.stop()
	before, _ := s.Updates(w.ctx)
	w.took()
	w.start()
	w.record("other", "rfc2136 creds A other.example.org 192.0.2.3")
	w.until("other", "Create Succeeded")
	if after, _ := s.Updates(w.ctx); after != before+1 {
		t.Errorf("a restart sends %d messages besides the new one", after-before-1)
	}
	w.delete("api")
	w.until("api", "gone")
	w.holds(s, "A api.example.org", "")
}

func TestARestartListsNoZones(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	w.stop()
	_, asked := w.took()
	if !slices.Contains(asked, "find api.example.org.") {
		t.Errorf("the zone was not looked for: %v", asked)
	}
	w.start()
	w.ask("api", "reconcile")
	w.until("api", "Reconcile Succeeded")
	writes, asked := w.took()
	if len(asked) != 1 || asked[0] != "zone "+*w.get("api").Status.Zone {
		t.Errorf("after a restart the account was asked %v", asked)
	}
	if len(writes) != 3 { // the annotation, Processing, Succeeded
		t.Errorf("the operator has written %v", writes)
	}
	w.ask("api", "reconcile")
	w.until("api", "Reconcile Succeeded")
	if _, asked = w.took(); len(asked) != 0 {
		t.Errorf("the next time it was asked %v", asked)
	}
	w.stop()
	w.start() // what is not known from before can be removed
	w.delete("api")
	w.until("api", "gone")
	w.holds(s, "A api.example.org", "")
}

// TestANewHostedZoneIsFound has a zone appear after the account has said which ones there are.
func TestANewHostedZoneIsFound(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.record("old", "powerdns creds A api.example.org 192.0.2.1")
	w.until("old", "Create Succeeded")
	w.record("new", "powerdns creds A api.example.net 192.0.2.1")
	w.until("new", "Create Error [ERR_CONFIGURATION_PROBLEM]")
	if err := s.AddZone(t.Context(), zones(t, "example.net")[0]); err != nil {
		t.Fatal(err)
	}
	w.until("new", "Create Succeeded") // by itself, when it is tried again
	w.holds(s, "A api.example.net", "120 192.0.2.1")
}

func TestWhatIsNotOursIsNotTouched(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.record("other", "aws-route53 creds A a.example.org 192.0.2.1")
	w.record("garden", "powerdns creds A b.example.org 192.0.2.1", "class: garden")
	w.record("api", "powerdns creds A api.example.org 192.0.2.1", "class: shoot")
	w.until("api", "Create Succeeded")
	w.ask("other", "reconcile")
	w.delete("garden")
	w.record("last", "powerdns creds A last.example.org 192.0.2.1")
	w.until("last", "Create Succeeded")
	if o := w.get("other"); o.Status.LastOperation != nil || len(o.Finalizers) > 0 ||
		o.Annotations[v1alpha1.OperationAnnotation] == "" || w.says("garden") != "gone" {
		t.Errorf("an object of another type is %+v", o)
	}
	writes, _ := w.took()
	for _, write := range writes {
		if strings.Contains(write, "/other") || strings.Contains(write, "/garden") {
			t.Errorf("the operator has written %s", write)
		}
	}
}

func TestTwoRecordsForOneSet(t *testing.T) {
	each(t, func(t *testing.T, start func(t *testing.T, names ...string) *site) {
		s := start(t, "example.org")
		w := newWorld(t)
		w.secret("creds", s.secret)
		w.record("one", s.kind+" creds A api.example.org 192.0.2.1")
		w.until("one", "Create Succeeded")
		w.record("two", s.kind+" creds A api.example.org 192.0.2.2")
		w.until("two", "Create Succeeded")
		w.holds(s, "A api.example.org", "120 192.0.2.2")
		w.ask("one", "reconcile")
		w.until("one", "Reconcile Succeeded")
		w.holds(s, "A api.example.org", "120 192.0.2.1")
		w.stop()
		w.start()
		w.delete("one")
		w.until("one", "gone")
		w.holds(s, "A api.example.org", "120 192.0.2.2")
		w.delete("two")
		w.until("two", "gone")
		w.holds(s, "A api.example.org", "")
	})
}

func TestManyRecords(t *testing.T) {
	s := startBIND(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	const many = 200
	for i := range many {
		w.record(fmt.Sprint("r", i), fmt.Sprintf("rfc2136 creds A r%d.example.org 192.0.2.1", i))
	}
	for i := range many {
		w.until(fmt.Sprint("r", i), "Create Succeeded")
	}
	for i := range many {
		w.holds(s, fmt.Sprintf("A r%d.example.org", i), "120 192.0.2.1")
		w.delete(fmt.Sprint("r", i))
	}
	for i := range many {
		w.until(fmt.Sprint("r", i), "gone")
	}
	for i := range many {
		w.holds(s, fmt.Sprintf("A r%d.example.org", i), "")
	}
}
