package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// runOn runs a command with the objects on standard input.
func runOn(t testing.TB, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	code = Run(t.Context(), Env{
		Args: append([]string{"zonefold"}, args...), Stdin: strings.NewReader(input), Stdout: &out, Stderr: &complaints,
		Now:    time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC),
		Getenv: func(string) string { return "" },
	})
	return code, out.String(), complaints.String()
}

// good are objects that nothing below may affect.
const good = `{"apiVersion":"kubi.zone/v1alpha1","kind":"Zone","metadata":{"name":"good","namespace":"aaa","creationTimestamp":"2020-01-01T00:00:00Z"},
  "spec":{"domainName":"good.example.","delegations":[{"namespace":"aaa","records":[{"pattern":"*"}]}]}}
{"apiVersion":"kubi.zone/v1alpha1","kind":"Record","metadata":{"name":"good","namespace":"aaa","creationTimestamp":"2020-01-01T00:00:00Z"},
  "spec":{"domainName":"www.good.example.","type":"A","rdata":"192.0.2.1"}}
`

// mangler makes objects out of pieces that are each wrong in some way.
type mangler struct{ rand *rand.Rand }

func (m mangler) pick(values ...any) any { return values[m.rand.IntN(len(values))] }

// value returns anything that JSON can say.
func (m mangler) value() any {
	return m.pick(nil, true, -1, 0, 1<<40, 1.5, "", "x", "@", "*", ".", "..", "a..b.", "-a.good.example.", `\`, `\999.`,
		"a b.",
		strings.Repeat("a", 64)+".", strings.Repeat("a.", 200), strings.Repeat("x", 5000), "xn--a.", "\u202e.",
		"\n$INCLUDE /etc/passwd\n",
		"\x00", []any{}, []any{nil, 1, "a"}, map[string]any{}, map[string]any{"name": 1},
		map[string]any{"a": map[string]any{"b": []any{}}})
}

func (m mangler) name() any {
	return m.pick("www.good.example.", "good.example.", "example.", ".", "*.good.example.", "sub", "@",
		"WWW.Good.Example.", m.value())
}

// spoil puts anything into some of the fields.
func (m mangler) spoil(fields map[string]any) map[string]any {
	for name := range fields {
		switch m.rand.IntN(8) {
		case 0:
			fields[name] = m.value()
		case 1:
			delete(fields, name)
		}
	}
	if m.rand.IntN(10) == 0 {
		fields["unheardOf"] = m.value()
	}
	return fields
}

func (m mangler) ref(i int) any {
	return m.pick(nil, map[string]any{"name": fmt.Sprintf("m%d", m.rand.IntN(i+1))}, map[string]any{"name": "good",
		"namespace": "aaa"}, m.value())
}

func (m mangler) rule() any {
	return m.spoil(map[string]any{
		"namespace":  m.pick("aaa", "default", m.value()),
		"namespaces": []any{m.value()},
		"zones":      []any{m.pick("*", "*.*", "*am*", "@.x", m.value())},
		"records": []any{m.spoil(map[string]any{"pattern": m.value(), "types": []any{m.pick("A", "NONE", m.value())}}),
			m.value()},
	})
}

// object makes the i-th object; its kind and name can always be read.
func (m mangler) object(i int) map[string]any {
	metadata := m.spoil(map[string]any{
		"creationTimestamp": m.pick("2026-01-01T00:00:00Z", m.value()), "labels": m.value(), "finalizers": m.value(),
		"generation": m.value(),
	})
	metadata["name"], metadata["namespace"] = fmt.Sprintf("m%d", i), m.pick("default", "aaa", "zzz")
	out := m.spoil(map[string]any{"status": m.pick(m.value(), map[string]any{"serial": m.value(), "hash": m.value(),
		"entries": m.value()})})
	out["apiVersion"], out["metadata"] = "kubi.zone/v1alpha1", metadata
	if m.rand.IntN(3) == 0 {
		out["kind"] = "Zone"
		out["spec"] = m.spoil(map[string]any{
			"domainName": m.name(), "zoneRef": m.ref(i), "delegations": []any{m.rule(), m.value()},
			"ttl": m.value(), "refresh": m.value(), "retry": m.value(), "expire": m.value(), "mname": m.value(),
			"rname": m.value(), "backendRefs": m.value(),
		})
	} else {
		out["kind"] = "Record"
		out["spec"] = m.spoil(map[string]any{
			"domainName": m.name(), "zoneRef": m.ref(i), "class": m.pick("IN", "CH", "", m.value()),
			"ttl":   m.pick(nil, 300, m.value()),
			"type":  m.pick("A", "TXT", "SOA", "TSIG", "TYPE0", "TYPE65535", "TYPE1234", m.value()),
			"rdata": m.pick("192.0.2.1", `"a`, `\# 4 0102`, "a (", m.value()),
		})
	}
	if m.rand.IntN(50) == 0 {
		out["spec"] = m.value()
	}
	return out
}

func TestTenThousandMalformedObjectsAreAllListed(t *testing.T) {
	const count = 10_000
	m := mangler{rand.New(rand.NewPCG(2, 26))}
	docs := []string{good}
	for i := range count {
		text, err := json.Marshal(m.object(i))
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, string(text)+"\n")
	}
	code, first, stderr := runOn(t, strings.Join(docs, ""), "render", "-f", "-", "-o", "json")
	if code != 0 || stderr != "" {
		t.Fatalf("render exits with %d and says %.300q", code, stderr)
	}
	listed := listedOf(t, first)
	if len(listed) != count+2 {
		t.Errorf("%d objects are listed, not %d", len(listed), count+2)
	}
	for _, key := range []string{"Zone aaa/good", "Record aaa/good"} {
		if o := listed[key]; !o.Accepted {
			t.Errorf("%s is affected: %s", key, o.Message)
		}
	}
	for key, o := range listed {
		if o.Reason == "" || o.Message == "" {
			t.Errorf("%s has the reason %q and the message %q", key, o.Reason, o.Message)
		}
	}
	m.rand.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	shuffled := strings.Join(docs, "")
	if _, again, _ := runOn(t, shuffled, "render", "-f", "-", "-o", "json"); again != first {
		t.Error("in another order the result is another")
	}
	if code, _, stderr := runOn(t, shuffled, "render", "-f", "-"); code != 0 || stderr != "" {
		t.Errorf("render as text exits with %d and says %.300q", code, stderr)
	}
	checkFinds(t, shuffled, listed)
}

// listedObject is what is common to Zones and Records in the output.
type listedObject struct {
	Namespace, Name, Reason, Message string
	Accepted                         bool
}

func listedOf(t *testing.T, text string) map[string]listedObject {
	t.Helper()
	var doc struct{ Zones, Records []listedObject }
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]listedObject{}
	for kind, objects := range map[string][]listedObject{"Zone": doc.Zones, "Record": doc.Records} {
		if !slices.IsSortedFunc(objects, func(a, b listedObject) int {
			return strings.Compare(a.Namespace+"\x00"+a.Name, b.Namespace+"\x00"+b.Name)
		}) {
			t.Errorf("the list of %ss is not sorted", kind)
		}
		for _, o := range objects {
			out[kind+" "+o.Namespace+"/"+o.Name] = o
		}
	}
	return out
}

// checkFinds tests that check has at least one finding for every refused object.
func checkFinds(t *testing.T, input string, listed map[string]listedObject) {
	t.Helper()
	code, out, stderr := runOn(t, input, "check", "-f", "-", "-o", "json")
	if code != 1 || !strings.HasPrefix(stderr, "checked ") || strings.Count(stderr, "\n") != 1 {
		t.Fatalf("check exits with %d and says %.300q", code, stderr)
	}
	var doc struct {
		Findings []struct {
			Line            int
			Object          *struct{ Kind, Namespace, Name string }
			Message, Reason string
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range doc.Findings {
		if f.Line < 1 || f.Message == "" || f.Reason == "" || f.Object == nil {
			t.Fatalf("a finding lacks something: %+v", f)
		}
		found[f.Object.Kind+" "+f.Object.Namespace+"/"+f.Object.Name] = true
	}
	for key, o := range listed {
		if !o.Accepted && !found[key] {
			t.Errorf("check has nothing about %s, which is refused: %s", key, o.Message)
		}
	}
}

func TestErrorsGiveNoOrdersToATerminal(t *testing.T) {
	code, _, said := runOn(t, "", "render", "-f", "none\x1b[2J\r.yaml")
	if code != 2 || !strings.Contains(said, `none\x1b[2J\r.yaml`) || strings.ContainsAny(said, "\x1b\r") {
		t.Errorf("it exits with %d: %q", code, said)
	}
}
