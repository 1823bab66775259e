package admission

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A sentence is one object that somebody applies to a cluster with other objects, and what they hear. In all texts ~ is
// a word of the case's own.
type sentence struct {
	name  string
	there []string // objects that are there already, and judged
	apply string
	deny  string   // part of the error; empty: it is stored
	warn  []string // parts of the warnings, one each; nothing else is said
}

const (
	anyone  = `delegations: [{zones: ["*"], records: [{pattern: "*"}, {pattern: "@"}]}]`
	ours    = `delegations: [{namespaces: [~-a], zones: ["*"], records: [{pattern: "*"}, {pattern: "@"}]}]`
	servers = `{kind: Record, metadata: {namespace: ~-a, name: ns}, spec: {domainName: "~.org.", type: NS, rdata: ns.example.net.}}`
)

func zoneOf(namespace, name, spec string) string {
	return fmt.Sprintf("{kind: Zone, metadata: {namespace: ~-%s, name: %s}, spec: {%s}}", namespace, name, spec)
}

func recordOf(namespace, name, domain, data string) string {
	return fmt.Sprintf("{kind: Record, metadata: {namespace: ~-%s, name: %s}, spec: {domainName: %q, %s}}", namespace,
		name, domain, data)
}

const a1 = "type: A, rdata: 192.0.2.1"

func kubizoneSentences() []sentence {
	org := zoneOf("a", "org", `domainName: "~.org.", `+anyone)
	return []sentence{
		{"a Record goes to the Zone that takes it", []string{org, servers}, recordOf("a", "www", "www.~.org.", a1),
			"", []string{"www.~.org. goes to Zone ~-a/org."}},
		{"a Record without a Zone is stored and said to be refused", nil, recordOf("a", "www", "www.~.org.", a1),
			"", []string{"refused (NoZone): No accepted Zone encloses www.~.org."}},
		{"a Record at a name of another namespace is said to be refused",
			[]string{org, recordOf("a", "www", "www.~.org.", a1)},
			recordOf("b", "www", "www.~.org.", a1), "", []string{"refused (NameHeld): Namespace ~-a holds www.~.org."}},
		{"a Record that nobody delegated is said to be refused", []string{zoneOf("a", "org", `domainName: "~.org.", `+ours)},
			recordOf("b", "www", "www.~.org.", a1), "", []string{"refused (NotDelegated): Zone ~-a/org has no delegation"}},
		{"a Record below a cut is said to be hidden", []string{org, recordOf("a", "cut", "sub.~.org.",
			"type: NS, rdata: ns.example.net.")},
			recordOf("a", "www", "www.sub.~.org.", a1), "",
			[]string{"www.sub.~.org. goes to Zone ~-a/org.",
				"hidden (Occluded): www.sub.~.org. A is in Zone ~-a/org, but hidden by the NS records of Record ~-a/cut"}},
		{"a cut says what it hides", []string{org, recordOf("a", "www", "www.sub.~.org.", a1), recordOf("a", "w2",
			"w2.sub.~.org.", a1)},
			recordOf("a", "cut", "sub.~.org.", "type: NS, rdata: ns.example.net."), "",
			[]string{"sub.~.org. goes to Zone ~-a/org.", "Record ~-a/cut hides Record ~-a/w2 and Record ~-a/www."}},
		{"a Record beside an alias is said to be refused",
			[]string{org, recordOf("a", "alias", "www.~.org.", "type: CNAME, rdata: example.net.")},
			recordOf("a", "www", "www.~.org.", a1), "", []string{
				"refused (Conflict): Record ~-a/www asks for an A at www.~.org., where Record ~-a/alias"}},
		{"a Record with another TTL hears of it", []string{org, recordOf("a", "w1", "www.~.org.", a1+", ttl: 60")},
			recordOf("a", "w2", "www.~.org.", "type: A, rdata: 192.0.2.2, ttl: 90"), "",
			[]string{"www.~.org. goes to Zone", "note (TTLDiffers): The set www.~.org. A has the TTL 60"}},
		{"a Record whose text has no quotes hears of it", []string{org}, recordOf("a", "spf", "~.org.",
			"type: TXT, rdata: v=spf1 mx -all"), "",
			[]string{"~.org. goes to Zone", "note (UnquotedText): The rdata of Record ~-a/spf has no quotes"}},
		{"a Record that refers to nothing hears of it", nil,
			`{kind: Record, metadata: {namespace: ~-a, name: www}, spec: {domainName: www, zoneRef: {name: none}, ` + a1 + `}}`,
			"", []string{"refused (ReferenceNotFound): Record ~-a/www refers to Zone ~-a/none, which does not exist"}},
		{"rdata that cannot be read is refused", []string{org}, recordOf("a", "www", "www.~.org.",
			"type: A, rdata: 192.0.2.256"),
			"Record ~-a/www has rdata that cannot be read", nil},
		{"a type that nobody may write is refused", []string{org}, recordOf("a", "soa", "~.org.",
			"type: SOA, rdata: a. b. 1 2 3 4 5"),
			"admission.kubi.zone\" denied the request: Record ~-a/soa has the type SOA, which cannot be written", nil},
		{"another class is refused", []string{org}, recordOf("a", "www", "www.~.org.",
			"type: A, class: CH, rdata: 192.0.2.1"), "Record ~-a/www has the class CH, but zones have the class IN", nil},
		{"a name that is none is refused", nil, recordOf("a", "www", "a..~.org.", a1),
			"Record ~-a/www has a domainName that is not a domain name", nil},
		{"a partial name without a reference is refused", nil, recordOf("a", "www", "www", a1),
			"domainName is relative, so zoneRef must name the Zone", nil},

		{"a Zone that is accepted hears so", nil, zoneOf("a", "org", `domainName: "~.org."`), "",
			[]string{"~.org. belongs to Zone ~-a/org.", "note (NoNameServers): Zone ~-a/org has no NS records"}},
		{"a second Zone of one name is said to be refused", []string{org}, zoneOf("b", "org", `domainName: "~.org."`), "",
			[]string{"refused (DuplicateZone): Zone ~-a/org already has ~.org."}},
		{"a Zone that nobody delegated is said to be refused", []string{zoneOf("a", "org", `domainName: "~.org.", `+ours)},
			zoneOf("b", "sub", `domainName: "sub.~.org."`), "",
			[]string{"refused (NotDelegated): Zone ~-a/org has no delegation"}},
		{"a Zone says what it takes over", []string{org, recordOf("a", "www", "www.sub.~.org.", a1)},
			zoneOf("a", "sub", `domainName: "sub.~.org.", `+anyone), "",
			[]string{"Zone ~-a/org delegates sub.~.org. to Zone ~-a/sub.", "note (NoNameServers)",
				"Zone ~-a/sub takes over Record ~-a/www."}},
		{"a rule with a field that nobody knows is refused", nil,
			zoneOf("a", "org", `domainName: "~.org.", delegations: [{namespaces: [x], zones: ["*"], until: tomorrow}]`),
			"Rule 0 of the delegations of Zone ~-a/org grants nothing, because it cannot be read", nil},
		{"SOA timers that contradict each other are refused", nil,
			zoneOf("a", "org", `domainName: "~.org.", refresh: 100, retry: 200`),
			"must be less than refresh", nil},
		{"a Zone at a wildcard is refused", nil, zoneOf("a", "org", `domainName: "*.~.org."`), "cannot start at a wildcard",
			nil},
		{"a Zone with a name and a reference is refused", []string{org},
			zoneOf("a", "sub", `domainName: "sub.~.org.", zoneRef: {name: org}`),
			"domainName is fully qualified, so zoneRef must be absent", nil},
		{"of objects of others only the number is told", []string{org, recordOf("b", "w1", "w1.sub.~.org.", a1),
			recordOf("b", "w2", "w2.sub.~.org.", a1)},
			zoneOf("a", "org", `domainName: "~.org."`), "",
			[]string{"Zone ~-a/org turns away 2 objects of other namespaces."}},
		{"of many objects some are named", append([]string{org}, manyRecords(6)...),
			zoneOf("a", "org", `domainName: "~.org."`), "",
			[]string{"Zone ~-a/org turns away Record ~-a/w0, Record ~-a/w1, Record ~-a/w2 and 3 more."}},
	}
}

func manyRecords(n int) []string {
	var out []string
	for i := range n {
		out = append(out, recordOf("a", fmt.Sprint("w", i), fmt.Sprintf("w%d.~.org.", i), a1))
	}
	return out
}

func TestEachSentence(t *testing.T) {
	s := newStage(t)
	for _, c := range kubizoneSentences() {
		t.Run(c.name, func(t *testing.T) { s.says(t, c, "kubi.zone/v1alpha1") })
	}
}

// says plays one case, as a dry run and in earnest, and compares what is heard.
func (s *stage) says(t *testing.T, c sentence, version string) {
	t.Helper()
	outer := s.t
	s.t = t
	defer func() { s.t = outer }()
	s.count++
	word := fmt.Sprintf("%c%d", outer.Name()[len(outer.Name())-1], s.count) // the cluster is that of all tests
	own := func(text string) string { return strings.ReplaceAll(text, "~", word) }
	s.namespace(word + "-a")
	s.namespace(word + "-b")
	object := func(text string) *unstructured.Unstructured {
		o := parse(own(text))
		if o.GetAPIVersion() == "" {
			o.SetAPIVersion(version)
		}
		return o
	}
	for _, text := range c.there {
		o := object(text)
		if err := s.client.Create(s.ctx, o); err != nil {
			t.Fatal(err)
		}
		if o.GetKind() != "Secret" {
			s.judged(o)
		}
	}
	for _, dry := range []bool{true, false} {
		s.said.take()
		err := s.put(object(c.apply), dry)
		said := s.said.take()
		if c.deny != "" {
			if err == nil || !strings.Contains(err.Error(), own(c.deny)) {
				t.Errorf("dry run %t: it is not refused with %q, but: %v", dry, own(c.deny), err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("dry run %t: %v", dry, err)
		}
		if len(said) != len(c.warn) {
			t.Errorf("dry run %t: %d warnings are said, not %d: %q", dry, len(said), len(c.warn), said)
			continue
		}
		for i, want := range c.warn {
			if !strings.Contains(said[i], own(want)) {
				t.Errorf("dry run %t: it is said %q, not %q", dry, said[i], own(want))
			}
		}
	}
}

// put creates an object, or gives it another spec.
func (s *stage) put(o *unstructured.Unstructured, dry bool) error {
	var created []client.CreateOption
	var updated []client.UpdateOption
	if dry {
		created, updated = append(created, client.DryRunAll), append(updated, client.DryRunAll)
	}
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(o.GroupVersionKind())
	if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(o), there); err != nil {
		return s.client.Create(s.ctx, o, created...)
	}
	there.Object["spec"] = o.Object["spec"]
	if labels := o.GetLabels(); labels != nil {
		there.SetLabels(labels)
	}
	err := s.client.Update(s.ctx, there, updated...)
	if apierrors.IsConflict(err) { // with the operator, who writes to it
		return s.put(o, dry)
	}
	return err
}
