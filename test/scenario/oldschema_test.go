package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/config/crd"
)

// loosen makes the schemas what an older one may have been. Untyped: of spec and status
// nothing is said at all; else types are what they are and nothing more is asked for.
func (s *scene) loosen(untyped bool) {
	s.t.Helper()
	dir := s.t.TempDir()
	for _, file := range []string{"kubi.zone_zones.yaml", "kubi.zone_records.yaml"} {
		text, err := crd.Files.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		var definition map[string]any
		if err := yaml.Unmarshal(text, &definition); err != nil {
			s.t.Fatal(err)
		}
		loosened(definition, untyped)
		if text, err = json.Marshal(definition); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.t.Cleanup(func() {
		if err := s.cluster.InstallCRDs(context.WithoutCancel(s.ctx), "../../config/crd"); err != nil {
			s.t.Error(err)
		}
	})
	if err := s.cluster.InstallCRDs(s.ctx, dir); err != nil {
		s.t.Fatal(err)
	}
}

// loosened removes from a schema, and all that is in it, what forbids anything.
func loosened(v any, untyped bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			loosened(e, untyped)
		}
	case map[string]any:
		for _, key := range []string{
			"x-kubernetes-validations", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "required", "default", "format",
			"minimum", "maximum", "minLength", "maxLength", "maxItems", "pattern", "enum",
		} {
			if _, isField := v[key].(map[string]any); !isField {
				delete(v, key)
			}
		}
		if properties, ok := v["properties"].(map[string]any); ok && untyped && properties["spec"] != nil {
			anything := map[string]any{"x-kubernetes-preserve-unknown-fields": true}
			properties["spec"], properties["status"] = anything, anything
		}
		if v["subresources"] != nil && untyped {
			delete(v, "subresources")
		}
		for _, e := range v {
			loosened(e, untyped)
		}
	}
}

// tighten puts the schemas back, and returns when they are in force.
func (s *scene) tighten() {
	s.t.Helper()
	if err := s.cluster.InstallCRDs(s.ctx, "../../config/crd"); err != nil {
		s.t.Fatal(err)
	}
	for _, ref := range []string{"zone a/probe: {domainName: x}",
		"record a/probe: {domainName: x, type: A, rdata: 192.0.2.1}"} {
		s.eventually("the schema", func() string {
			if err := s.client.Create(s.ctx, s.objects(ref)[0].loose(), client.DryRunAll); !apierrors.IsInvalid(err) {
				return fmt.Sprintf("it says of %s: %v", ref, err)
			}
			return ""
		})
	}
}

// store creates objects that only a loose schema takes.
func (s *scene) store(prefix string, list []wrong) {
	s.t.Helper()
	for i, w := range list {
		ref := fmt.Sprintf("%s-%d", prefix, i)
		o := s.objects(ref + ": " + w.spec)[0].loose()
		spec, _ := o.Object["spec"].(map[string]any)
		if whole, ok := spec["whole"]; ok {
			o.Object["spec"], o.Object["status"] = whole, spec["status"]
		}
		s.eventually("storing "+w.spec, func() string {
			if err := s.client.Create(s.ctx, o.DeepCopy()); err != nil {
				return err.Error()
			}
			return ""
		})
	}
}

// judged waits until every stored object says what is wrong with it.
func (s *scene) judged(prefix string, list []wrong) {
	s.t.Helper()
	for i, w := range list {
		ref := fmt.Sprintf("%s-%d", prefix, i)
		switch {
		case w.reason == "Accepted":
			s.cond(ref, "Accepted", "True Accepted")
		case strings.HasPrefix(w.reason, "Warning "):
			s.cond(ref, "Warning", "True "+strings.TrimPrefix(w.reason, "Warning "), w.message...)
		default:
			s.refused(ref, w.reason, w.message...)
			s.sentence(ref, "Ready")
		}
	}
}

// explained is judged, for objects of which the API server does not take every status: its
// rules cannot be evaluated where a value has another type. An event says it all the same.
func (s *scene) explained(prefix string, list []wrong) {
	s.t.Helper()
	for i, w := range list {
		if w.reason == "Accepted" {
			s.cond(fmt.Sprintf("%s-%d", prefix, i), "Accepted", "True Accepted")
			continue
		}
		o := s.reference(fmt.Sprintf("%s-%d", prefix, i))
		s.eventually(fmt.Sprintf("events of %s-%d", prefix, i), func() string {
			var list eventsv1.EventList
			if err := s.client.List(s.ctx, &list, client.InNamespace(o.namespace)); err != nil {
				return err.Error()
			}
			for _, e := range list.Items {
				about := strings.EqualFold(e.Regarding.Kind, o.kind) && e.Regarding.Name == o.name
				if about && e.Reason == w.reason && !slices.ContainsFunc(w.message, func(m string) bool {
					return !strings.Contains(e.Note, m)
				}) {
					return ""
				}
			}
			return fmt.Sprintf("none says %s and %q", w.reason, w.message)
		})
	}
}

// storedZones and storedRecords are what a schema of the same types, but without bounds, lets in.
var storedZones = []wrong{
	{`{domainName: dev}`, "InvalidSpec", []string{`"dev"`, "zoneRef"}},
	{`{domainName: dev.example.org., zoneRef: {name: org}}`, "InvalidSpec", []string{"both"}},
	{`{}`, "InvalidName", nil},
	{`{domainName: ""}`, "InvalidName", nil},
	{`{domainName: ` + strings.Repeat("a.", 1000) + `}`, "InvalidName", nil},
	{`{domainName: big.example.org., ttl: 4294967296}`, "InvalidSpec", []string{"ttl 4294967296"}},
	{`{domainName: big.example.org., expire: 1000000000000000000}`, "InvalidSpec", []string{"expire 1000000000000000000"}},
	{`{domainName: less.example.org., refresh: -1}`, "InvalidSpec", []string{"refresh -1"}},
	{`{domainName: mname.example.org., mname: ns1}`, "InvalidSpec", []string{"mname"}},
	{`{domainName: rname.example.org., rname: me@example.org}`, "InvalidSpec", []string{"rname"}},
	{`{domainName: ref.example.org., zoneRef: {}}`, "InvalidSpec", nil},
	{`{domainName: t.example.org., refresh: 100, retry: 200, expire: 50, delegations: ` + anything + `}`,
		"Warning InvalidTimers", []string{"retry (200)", "refresh (100)"}},
	{`{domainName: rules.example.org., delegations: [{namespace: "", zones: [""]}, {records: [{types: [BOGUS]}]}]}`,
		"Warning InvalidRule", nil},
	{`{domainName: twice.example.org., backendRefs: [{name: ~bind}, {name: ~bind}], delegations: ` + anything + `}`,
		"Accepted", nil},
	{`{domainName: many.example.org., backendRefs: [` + strings.Repeat("{name: none}, ", 40) + `]}`, "Accepted", nil},
}

var storedRecords = []wrong{
	{`{}`, "InvalidName", nil},
	{`{domainName: www, type: A, rdata: 192.0.2.1}`, "InvalidSpec", []string{`"www"`, "zoneRef"}},
	{`{domainName: x.example.org., type: A}`, "InvalidData", nil},
	{`{domainName: x.example.org., rdata: 192.0.2.1}`, "InvalidType", nil},
	{`{domainName: x.example.org., type: NONSENSE, rdata: x}`, "InvalidType", []string{"NONSENSE"}},
	{`{domainName: x.example.org., type: ANY, rdata: x}`, "InvalidType", []string{"ANY"}},
	{`{domainName: x.example.org., type: A, class: XX, rdata: 192.0.2.1}`, "ClassMismatch", []string{"XX"}},
	{`{domainName: x.example.org., type: A, ttl: -1, rdata: 192.0.2.1}`, "InvalidSpec", []string{"ttl -1"}},
	{`{domainName: x.example.org., type: A, ttl: 1099511627776, rdata: 192.0.2.1}`, "InvalidSpec", []string{
		"ttl 1099511627776"}},
	{`{domainName: x.example.org., zoneRef: {}, type: A, rdata: 192.0.2.1}`, "ReferenceNotFound", nil},
	{`{domainName: low.example.org., type: a, rdata: 192.0.2.1}`, "Accepted", nil},
	{`{domainName: ` + strings.Repeat("a.", 1000) + `, type: A, rdata: 192.0.2.1}`, "InvalidName", nil},
}

// untypedZones and untypedRecords are what a schema that says nothing lets in: values of
// other types, and statuses that are not ours. A "whole" stands for the spec itself.
var untypedZones = []wrong{
	{`{domainName: 5}`, "InvalidSpec", []string{`"domainName" must be a string, not 5`}},
	{`{domainName: u.example.org., ttl: 1h}`, "InvalidSpec", []string{`"ttl" must be a whole number, not "1h"`}},
	{`{domainName: u.example.org., ttl: 1.5}`, "InvalidSpec", []string{`"ttl"`, "1.5"}},
	{`{domainName: u, zoneRef: org}`, "InvalidSpec",
		[]string{`"zoneRef" must be an object with the strings name and namespace, not "org"`}},
	{`{domainName: u.example.org., delegations: all}`, "InvalidSpec",
		[]string{`"delegations" must be a list of objects, not "all"`}},
	{`{domainName: u.example.org., backendRefs: [b, 5]}`, "InvalidSpec", []string{`"backendRefs"`}},
	{`{whole: text}`, "InvalidSpec", []string{`"text"`}},
	{`{whole: [1, 2]}`, "InvalidSpec", []string{`[1,2]`}},
	{`{whole: {domainName: s.example.org., delegations: []}, status: {conditions: none, entries: 5, serial: x, fqdn: [], backends: {}}}`, "Accepted", nil},
	{`{whole: {domainName: p.example.org., delegations: []}, status: text}`, "Accepted", nil},
}

var untypedRecords = []wrong{
	{`{domainName: [www], type: A, rdata: 192.0.2.1}`, "InvalidSpec",
		[]string{`"domainName" must be a string, not ["www"]`}},
	{`{domainName: u.example.org., type: 1, rdata: 192.0.2.1}`, "InvalidSpec", []string{`"type" must be a string, not 1`}},
	{`{domainName: u.example.org., type: A, rdata: {a: 192.0.2.1}}`, "InvalidSpec", []string{`"rdata"`}},
	{`{domainName: u.example.org., type: A, ttl: "60", rdata: 192.0.2.1}`, "InvalidSpec",
		[]string{`"ttl" must be a whole number, not "60"`}},
	{`{domainName: u.example.org., type: A, class: 1, rdata: 192.0.2.1}`, "InvalidSpec", []string{`"class"`}},
	{`{domainName: u, zoneRef: {name: 5}, type: A, rdata: 192.0.2.1}`, "InvalidSpec", []string{`"zoneRef"`}},
	{`{whole: 5}`, "InvalidSpec", []string{"5"}},
	{`{whole: {domainName: v.example.org., type: A, rdata: 192.0.2.1}, status: {conditions: {}, fqdn: 5, observedGeneration: x}}`, "Accepted", nil},
}

// TestObjectsOfAnOlderSchema has the operator find objects that its own schema would
// not let in, and which it has to write to all the same.
func TestObjectsOfAnOlderSchema(t *testing.T) {
	s := newKubizone(t)
	s.backend("bind", "default: true, foreign: Delete, auditInterval: 1s", s.bind)
	s.serve("example.org.", "t.example.org.", "twice.example.org.")
	s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
	`)
	s.unharmed("192.0.2.1")
	requests := s.requests()

	s.loosen(false)
	s.step("stored while it runs, each says what is wrong", func() {
		s.store("zone a/old", storedZones)
		s.store("record a/old", storedRecords)
		s.judged("zone a/old", storedZones)
		s.judged("record a/old", storedRecords)
		s.unharmed("192.0.2.1")
	})

	s.step("with the schema of today their statuses can still be written", func() {
		s.tighten()
		for i := range storedZones {
			s.clearStatus(fmt.Sprintf("zone a/old-%d", i))
		}
		for i := range storedRecords {
			s.clearStatus(fmt.Sprintf("record a/old-%d", i))
		}
		s.judged("zone a/old", storedZones)
		s.judged("record a/old", storedRecords)
		s.apply(`
		record a/t: {domainName: www.t.example.org., type: A, rdata: 192.0.2.2}
		record a/twice: {domainName: www.twice.example.org., type: A, rdata: 192.0.2.3}
		`)
		s.answers("www.t.example.org. A", "192.0.2.2")
		s.answers("www.twice.example.org. A", "192.0.2.3")
		s.ready("record a/t", "record a/twice")
		s.agree("a/old-11")
		s.agree("a/old-13")
		s.unharmed("192.0.2.1")
	})
	if n := s.requests() - requests; n > 300 {
		t.Errorf("%d objects took %v requests that write", len(storedZones)+len(storedRecords), n)
	}
	s.step("a restart changes nothing", func() { s.restartChangesNothing() })

	s.op.Kill()
	s.loosen(true)
	s.step("found at the start and of other types", func() {
		s.store("zone a/odd", untypedZones)
		s.store("record a/odd", untypedRecords)
		s.tighten()
		s.restarted()
		s.explained("zone a/odd", untypedZones)
		s.explained("record a/odd", untypedRecords)
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.4}`)
		s.unharmed("192.0.2.4")
		if n := s.requests(); n > 150 {
			s.t.Errorf("%d objects took %v requests that write", len(untypedZones)+len(untypedRecords), n)
		}
		s.restartChangesNothing()
	})
}

// clearStatus removes the conditions that an object has.
func (s *scene) clearStatus(ref string) {
	s.t.Helper()
	o := s.reference(ref).blank()
	if err := s.client.Status().Patch(s.ctx, o, client.RawPatch(types.MergePatchType,
		[]byte(`{"status":{"conditions":null}}`))); err != nil {
		s.t.Fatal(err)
	}
}
