package kubizone

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

var (
	noon     = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	accepted = zone.Verdict{Accepted: true, Reason: zone.Accepted, Message: "It is in."}
	served   = controller.OK(controller.ReasonServed, "Served by bind.")
)

// told writes conditions as "Accepted=True/Reason ...".
func told(list []metav1.Condition) string {
	var out []string
	for _, c := range list {
		out = append(out, c.Type+"="+string(c.Status)+"/"+c.Reason)
	}
	return strings.Join(out, " ")
}

func TestWhatAnObjectIsTold(t *testing.T) {
	occluded := accepted
	occluded.Notes = []zone.Note{{Reason: zone.Occluded, Message: "Zone a/b is in front."}}
	warned := accepted
	warned.Notes = []zone.Note{{Reason: zone.NoNameServers, Message: "None."}, {Reason: zone.Occluded, Message: "Hidden."}}
	for _, c := range []struct {
		name   string
		v      zone.Verdict
		served controller.Outcome
		want   string
	}{
		{"all is well", accepted, served, "Accepted=True/Accepted Served=True/Served Ready=True/Ready"},
		{"what is refused is not served, and not ready for the same reason", zone.Verdict{Reason: zone.NotDelegated}, served,
			"Accepted=False/NotDelegated Served=False/NotAccepted Ready=False/NotDelegated"},
		{"what is on its way is not ready yet", accepted, controller.Not(controller.ReasonPending, ""),
			"Accepted=True/Accepted Served=False/Pending Ready=False/Pending"},
		{"what a cut hides is not served, whatever the servers have", occluded, served,
			"Accepted=True/Accepted Served=False/Occluded Ready=False/Occluded"},
		{"what deserves a look is ready all the same", func() zone.Verdict {
			v := warned
			v.Notes = v.Notes[:1]
			return v
		}(), served,
			"Accepted=True/Accepted Served=True/Served Ready=True/Ready Warning=True/NoNameServers"},
		{"being hidden is no warning but a state", warned, served,
			"Accepted=True/Accepted Served=False/Occluded Ready=False/Occluded Warning=True/NoNameServers"},
	} {
		status := recordStatus(controller.Conditions{Generation: 3, Now: noon}, c.v, c.served)
		if got := told(status.Conditions); got != c.want || status.ObservedGeneration != 3 {
			t.Errorf("%s: it is told\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestAConditionKeepsItsTimeForAsLongAsItsStatus(t *testing.T) {
	first := recordStatus(controller.Conditions{Generation: 1, Now: noon}, accepted,
		controller.Not(controller.ReasonPending, ""))
	second := recordStatus(controller.Conditions{Old: first.Conditions, Generation: 2, Now: noon.Add(time.Hour)}, accepted,
		served)
	for kind, want := range map[string]time.Time{"Accepted": noon, "Served": noon.Add(time.Hour),
		"Ready": noon.Add(time.Hour)} {
		if got := meta.FindStatusCondition(second.Conditions, kind); got == nil || !got.LastTransitionTime.Time.Equal(want) {
			t.Errorf("%s has changed at %v, want %v", kind, got, want)
		}
	}
	third := recordStatus(controller.Conditions{Old: second.Conditions, Generation: 2, Now: noon.Add(2 * time.Hour)},
		accepted, served)
	if patch, err := objects.Differences(second, third); len(patch) > 0 || err != nil {
		t.Errorf("an hour later, when nothing has changed, it is written: %v, %v", patch, err)
	}
	if meta.FindStatusCondition(first.Conditions, "Warning") != nil {
		t.Error("there is a warning of nothing")
	}
}

func TestWhatAZoneIsToldOfItsBackends(t *testing.T) {
	at := delivery.Delivered{Place: "bind", Zone: parse(t, "example.org.")}
	out := delivery.ZoneOutcome{Served: served, Known: true, Places: []delivery.PlaceOutcome{
		{Delivered: at, Serial: 2026010200},
		{Delivered: delivery.Delivered{Place: "knot", Zone: at.Zone}, Reason: controller.ReasonUnavailable,
			Message: "No answer."},
	}}
	status := v1alpha1.ZoneStatus{Slices: 4}
	tellZone(&status, controller.Conditions{Now: noon}, accepted, out)
	if got, want := told(status.Conditions),
		"Accepted=True/Accepted Served=True/Served Ready=True/Ready Sliced=True/InSlices"; got != want {
		t.Errorf("it is told %s, want %s", got, want)
	}
	is(t, status.Backends, `
- {name: bind, fqdn: example.org., serial: 2026010200}
- {name: knot, fqdn: example.org., reason: Unavailable, message: No answer.}`)
	status.Slices = 0
	if tellZone(&status, controller.Conditions{Now: noon}, accepted, out); meta.FindStatusCondition(status.Conditions,
		"Sliced") != nil {
		t.Error("a Zone whose status has everything says that it has not")
	}
}

// is compares something as JSON with YAML.
func is(t *testing.T, got any, want string) {
	t.Helper()
	is, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := yaml.YAMLToJSON([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	again, err := yaml.YAMLToJSON(is) // with sorted keys
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != string(asked) {
		t.Errorf("it is\n%s\nwant\n%s", again, asked)
	}
}

func TestWhatIsWrittenDownIsFoundAgain(t *testing.T) {
	soa, err := rr.ParseSOA("ns.example.org. hostmaster.example.org. 7 1 1 4 1")
	if err != nil {
		t.Fatal(err)
	}
	soa.TTL = 60
	serial := v1alpha1.Number(7)
	z := &v1alpha1.Zone{}
	z.Status.Entries = []v1alpha1.Entry{soaEntry(parse(t, "example.org."), soa)}
	z.Status.Hash, z.Status.Serial = "h", &serial
	want := engine.Label{Serial: 7, ID: engine.Content{SOA: soa, Hash: "h"}.ID()}
	if got := labelled(z); got != want {
		t.Errorf("it is %+v, want %+v", got, want)
	}
	for name, spoil := range map[string]func(*v1alpha1.ZoneStatus){
		"no entries":            func(s *v1alpha1.ZoneStatus) { s.Entries = nil },
		"no SOA in front":       func(s *v1alpha1.ZoneStatus) { s.Entries[0].Type = "A" },
		"no serial":             func(s *v1alpha1.ZoneStatus) { s.Serial = nil },
		"a SOA that is damaged": func(s *v1alpha1.ZoneStatus) { s.Entries[0].RData = "x" },
	} {
		spoilt := z.DeepCopy()
		spoil(&spoilt.Status)
		if got := labelled(spoilt); got != (engine.Label{}) {
			t.Errorf("%s: a content is written down as %+v", name, got)
		}
	}
}

func TestAContentThatIsNotDeliveredAnyMoreLeavesTheStatus(t *testing.T) {
	status, ledger := v1alpha1.ZoneStatus{FQDN: "example.org.", Serial: number(7)}, &ledger{}
	if clearContent(&status, ledger) != nil {
		t.Error("a status without content is written")
	}
	ledger.journal = []page{{name: "page", sets: setsFor(t, apexOf(t, rr.TypeA, "192.0.2.1"))}}
	if clearContent(&status, ledger) == nil {
		t.Error("a page of the journal stays")
	}
	ledger.journal = nil
	status.Hash, status.Slices = "h", 2
	if clearContent(&status, ledger) == nil {
		t.Error("the content stays")
	}
	if clearContent(&status, ledger) == nil { // what has been written may have no answer
		t.Error("the slices stay")
	}
	is(t, status, `{fqdn: example.org., serial: 7}`) // the serial must not fall
}

func TestWhereAZoneWasDeliveredCountsWithItsFinalizerOnly(t *testing.T) {
	z := &v1alpha1.Zone{}
	z.Status.Backends = []v1alpha1.ZoneBackend{{Name: "bind", FQDN: "example.org."}, {Name: "odd", FQDN: "a..b."}}
	if got := deliveredOf(z); len(got) > 0 {
		t.Errorf("without the finalizer it was delivered to %v", got)
	}
	z.Finalizers = []string{"other", v1alpha1.Finalizer}
	got := deliveredOf(z)
	if len(got) != 1 || got[0] != (delivery.Delivered{Place: "bind", Zone: parse(t, "example.org.")}) {
		t.Errorf("with it, to %v", got)
	}
}
