package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestStatus(t *testing.T) {
	s := newKubizone(t)

	s.run("the label is put right when somebody forges, edits or removes it, and foreign labels stay", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: [{records: [{pattern: www}], zones: [sub]}]}
		zone a/sub: {domainName: sub.example.org., delegations: []}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		record a/bad: {domainName: bad.example.org., type: A, rdata: 192.0.2.2}
		`)
		s.ready("record a/www")
		s.refused("record a/bad", "NotDelegated")
		for _, ref := range []string{"record a/www", "zone a/sub"} {
			s.merge(ref, `{"metadata":{"labels":{"kubi.zone/parent-zone":"other.elsewhere","team":"blue"}}}`)
			s.parent(ref, "a/org")
			s.merge(ref, `{"metadata":{"labels":{"kubi.zone/parent-zone":null}}}`)
			s.parent(ref, "a/org")
			if labels := s.get(ref).GetLabels(); labels["team"] != "blue" {
				s.t.Errorf("%s lost a foreign label; it has %v", ref, labels)
			}
		}
		for _, ref := range []string{"record a/bad", "zone a/org"} {
			s.merge(ref, `{"metadata":{"labels":{"kubi.zone/parent-zone":"org.~a","team":"blue"}}}`)
			s.parent(ref, "")
			if labels := s.get(ref).GetLabels(); labels["team"] != "blue" {
				s.t.Errorf("%s lost a foreign label; it has %v", ref, labels)
			}
		}
		s.answers("bad.example.org. A")
		s.entries("a/org", "www.example.org. 360 A 192.0.2.1")
	})

	s.run("a status that somebody edits is put right", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		`)
		s.ready("record a/www", "zone a/org")
		z := s.entries("a/org", "www.example.org. 360 A 192.0.2.1")
		for ref, patch := range map[string]string{
			"record a/www": `{"status":{"fqdn":"bad.example.org.","conditions":[]}}`,
			"zone a/org": `{"status":{"fqdn":"bad.","hash":"0","serial":1,"conditions":[],"backends":[],
				"entries":[{"fqdn":"www.example.org.","class":"IN","type":"A","ttl":1,"rdata":"192.0.2.66"}]}}`,
		} {
			o := s.reference(ref).blank()
			if err := s.client.Status().Patch(s.ctx, o, client.RawPatch(types.MergePatchType,
				[]byte(s.text(patch)))); err != nil {
				s.t.Fatal(err)
			}
		}
		s.ready("record a/www", "zone a/org")
		s.fqdn("record a/www", "www.example.org.")
		s.fqdn("zone a/org", "example.org.")
		s.entries("a/org", "www.example.org. 360 A 192.0.2.1")
		s.eventually("hash and serial", func() string {
			if is := s.zone("a/org"); is.Status.Hash != z.Status.Hash || *is.Status.Serial < *z.Status.Serial {
				return fmt.Sprintf("%s and %d", is.Status.Hash, *is.Status.Serial)
			}
			return ""
		})
		s.agree("a/org")
		s.answers("www.example.org. A", "192.0.2.1")
	})

	s.run("a label that would be too long is hashed", func(s *scene) {
		s.serve("example.org.")
		long := strings.Repeat("long-", 12) + "name"
		s.apply(`
		zone a/` + long + `: {domainName: example.org., delegations: ` + anything + `}
		record b/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		`)
		s.ready("record b/www")
		label := s.record("b/www").Labels[kubizone.ParentZoneLabel]
		if len(label) != 63 && len(label) != 62 || !strings.HasPrefix(label, "long-long-") {
			s.t.Errorf("the label is %q", label)
		}
		s.answers("www.example.org. A", "192.0.2.1")
	})

	s.run("the name is set before the delegation is judged", func(s *scene) {
		s.apply(`
		zone a/org: {domainName: example.org., delegations: []}
		zone b/sub: {domainName: sub, zoneRef: {name: org, namespace: ~a}, delegations: ` + anything + `}
		record b/www: {domainName: www, zoneRef: {name: sub}, type: A, rdata: 192.0.2.1}
		`)
		s.refused("zone b/sub", "NotDelegated")
		s.fqdn("zone b/sub", "sub.example.org.")
		s.fqdn("record b/www", "www.sub.example.org.")
		s.noEntries("b/sub")
	})

	s.run("events tell what happened, once", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: [{records: [{pattern: www}]}]}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		record a/bad: {domainName: bad.example.org., type: A, rdata: 192.0.2.2}
		`)
		s.ready("record a/www")
		s.refused("record a/bad", "NotDelegated")
		s.told("a/bad", "Warning NotDelegated")
		s.apply(`zone a/org: {domainName: example.org., delegations: [{records: [{pattern: www}, {pattern: bad}]}]}`)
		s.ready("record a/bad")
		s.told("a/bad", "Normal Accepted", "Warning NotDelegated")
		s.told("a/www")
	})

	s.run("a status never speaks of a generation that was not looked at", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.0}
		`)
		s.ready("record a/www")
		const rounds = 120
		done := make(chan string, 1)
		watching, stop := context.WithCancel(s.ctx)
		defer stop()
		go func() { done <- s.watchGenerations(watching) }()
		for i := range rounds {
			data := fmt.Sprintf("192.0.2.%d", i)
			if i%2 == 1 {
				data = "bad"
			}
			s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: "` + data + `"}`)
		}
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.200}`)
		s.ready("record a/www")
		stop()
		if lie := <-done; lie != "" {
			s.t.Error(lie)
		}
		s.answers("www.example.org. A", "192.0.2.200")
	})
}

// watchGenerations follows the Records of a namespace until ctx ends, and returns what is
// wrong about a status that claims to know the present generation.
func (s *scene) watchGenerations(ctx context.Context) string {
	var list kubizone.RecordList
	w, err := testoperator.Watch(ctx, s.watcher, &list, client.InNamespace(s.prefix+"a"))
	if err != nil {
		return err.Error()
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return ""
		case event, ok := <-w.ResultChan():
			if !ok {
				return "the watch has ended"
			}
			r, isRecord := event.Object.(*kubizone.Record)
			if !isRecord && ctx.Err() != nil {
				return ""
			} else if !isRecord {
				return fmt.Sprintf("the watch says %v", event.Object)
			}
			c := find(r.Status.Conditions, "Accepted")
			if c != nil && c.ObservedGeneration == r.Generation && (c.Status == "True") != (r.Spec.RData != "bad") {
				return fmt.Sprintf("of generation %d with the rdata %q it says %s %s", r.Generation, r.Spec.RData, c.Status,
					c.Message)
			}
		}
	}
}

// told waits until exactly these events, as "type reason", tell of a Record.
func (s *scene) told(where string, want ...string) {
	s.t.Helper()
	o := s.reference("record " + where)
	s.eventually("events of "+where, func() string {
		var list eventsv1.EventList
		if err := s.client.List(s.ctx, &list, client.InNamespace(o.namespace)); err != nil {
			return err.Error()
		}
		var got []string
		for _, e := range list.Items {
			if e.Regarding.Name == o.name && e.Regarding.Kind == "Record" {
				got = append(got, e.Type+" "+e.Reason)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Sprintf("they are %q, not %q", got, want)
		}
		return ""
	})
}
