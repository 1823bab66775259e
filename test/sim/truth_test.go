package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/zonefold/zonefold/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

const definitions = "../../config/crd"

// operations are how many the two API servers are compared with.
const operations = 1500

// A side is one of the two API servers, and what it said last of each object.
type side struct {
	server    string
	transport http.RoundTripper
	was       map[string]map[string]any // by path
	stale     map[string]string         // a resourceVersion of before
}

// do asks, and returns the answer without what differs from server to server.
func (s *side) do(t *testing.T, method, path, contentType string, body map[string]any) (status int, told any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.server+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("User-Agent", "truth/1")
	response, err := s.transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusTooManyRequests { // a kind that is new is not served at once
		<-time.After(100 * time.Millisecond)
		return s.do(t, method, path, contentType, body)
	}
	if text, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s %s: %s", method, path, text)
	}
	if answer["kind"] == "Status" { // words differ; what clients decide by does not
		return response.StatusCode, answer["reason"]
	}
	return response.StatusCode, s.heard(answer)
}

// heard keeps what is needed to name a version, and returns the rest.
func (s *side) heard(answer map[string]any) any {
	meta, _ := answer["metadata"].(map[string]any)
	if name, ok := meta["name"].(string); ok {
		key := fmt.Sprint(answer["kind"], name)
		if was := s.was[key]; was != nil && was["resourceVersion"] != meta["resourceVersion"] {
			s.stale[key] = was["resourceVersion"].(string)
		}
		s.was[key] = meta
	}
	return alike(answer)
}

// alike is a value without what differs from server to server.
func alike(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if inner == "" {
				continue
			}
			switch key {
			case "uid", "resourceVersion", "creationTimestamp", "time", "continue", "remainingItemCount", "deletionTimestamp":
				out[key] = "it is there"
			case "managedFields": // in the order of seconds, of which each side has its own
				all, _ := alike(inner).([]any)
				out[key] = slices.SortedFunc(slices.Values(all), func(a, b any) int {
					return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
				})
			default:
				out[key] = alike(inner)
			}
		}
		delete(out, "remainingItemCount")
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = alike(v[i])
		}
		return out
	}
	return value
}

// An operation is one request, which names versions as the side that it goes to knows them.
type operation struct {
	method, path, contentType string
	body                      func(*side) map[string]any
}

// TestItAnswersAsKubeAPIServerDoes asks both for the same at random.
func TestItAnswersAsKubeAPIServerDoes(t *testing.T) {
	cluster := testcluster.ForTest(t)
	if err := cluster.InstallCRDs(t.Context(), definitions); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	kinds := kindsOf(t)
	sides := []*side{
		{config.Host, transport, map[string]map[string]any{}, map[string]string{}},
		{"http://api.invalid", NewAPI(kinds, time.Now), map[string]map[string]any{}, map[string]string{}},
	}
	namespace := fmt.Sprintf("truth-%d", time.Now().UnixNano()) // the real server may be that of an earlier run
	random := rand.New(rand.NewPCG(2026, 11))
	next := func(n int) operation {
		if n == 0 {
			return operation{http.MethodPost, "/api/v1/namespaces", "application/json", func(*side) map[string]any {
				return map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}}
			}}
		}
		return someOperation(random, namespace)
	}
	for n := range operations {
		o := next(n)
		var status [2]int
		var told [2]any
		for i, s := range sides {
			status[i], told[i] = s.do(t, o.method, o.path, o.contentType, o.body(s))
		}
		if n == 0 {
			continue // the real one says more of a namespace
		}
		if diff := cmp.Diff(told[0], told[1]); status[0] != status[1] || diff != "" {
			body, _ := json.Marshal(o.body(sides[0]))
			t.Fatalf("operation %d: %s %s (%s) %s\nis answered %d by kube-apiserver, and %d here; what only one says:\n%s", n,
				o.method, o.path, o.contentType, body, status[0], status[1], diff)
		}
	}
}

// someOperation is one that a client might have, right or wrong.
func someOperation(random *rand.Rand, namespace string) operation {
	choose := func(all ...string) string { return all[random.IntN(len(all))] }
	kind := choose("Zone", "Record", "ZoneSlice")
	group, plural := "kubi.zone/v1alpha1", strings.ToLower(kind)+"s"
	if kind == "ZoneSlice" {
		group = "zonefold.dev/v1alpha1"
	}
	collection := "/apis/" + group + "/namespaces/" + namespace + "/" + plural
	name := choose("a", "b", "c")
	key, one := kind+name, collection+"/"+name
	spec, value := someSpec(random, kind), random.IntN(4)
	metadata := func(s *side, version, uid string) map[string]any {
		m := map[string]any{"name": name, "namespace": namespace}
		was := s.was[key]
		switch {
		case version == "now" && was != nil:
			m["resourceVersion"] = was["resourceVersion"]
		case version == "stale" && s.stale[key] != "":
			m["resourceVersion"] = s.stale[key]
		}
		switch {
		case uid == "its own" && was != nil:
			m["uid"] = was["uid"]
		case uid == "another":
			m["uid"] = "00000000-0000-0000-0000-00000000abcd"
		}
		return m
	}
	version, uid := choose("none", "now", "now", "stale"), choose("none", "none", "its own", "another")
	finalizers, label := random.IntN(4), choose("x", "y")
	object := func(s *side) map[string]any {
		m := metadata(s, version, uid)
		if finalizers == 0 {
			m["finalizers"] = []any{"zonefold.dev/withdraw"}
		}
		m["labels"] = map[string]any{"of": label}
		out := map[string]any{"apiVersion": group, "kind": kind, "metadata": m}
		for k, v := range spec {
			out[k] = v
		}
		return out
	}
	status := func(s *side) map[string]any {
		m := metadata(s, version, uid)
		delete(m, "name")
		delete(m, "namespace")
		return map[string]any{"metadata": m, "status": map[string]any{"observedGeneration": value}}
	}
	none := func(*side) map[string]any { return nil }
	json, merge, apply := "application/json", "application/merge-patch+json", "application/apply-patch+yaml"
	owner := "?fieldManager=" + choose("one", "two") + choose("", "&force=true")
	sub := ""
	if kind != "ZoneSlice" {
		sub = "/status"
	}
	all := []operation{
		{http.MethodPost, collection, json, func(s *side) map[string]any {
			o := object(s)
			delete(o["metadata"].(map[string]any), "resourceVersion")
			return o
		}},
		{http.MethodGet, one, json, none},
		{http.MethodGet, collection, json, none},
		{http.MethodGet, collection + "?labelSelector=" + url.QueryEscape("of="+label), json, none},
		{http.MethodGet, collection + "?fieldSelector=metadata.name%3D" + name, json, none},
		{http.MethodGet, collection + "?limit=2", json, none},
		{http.MethodPut, one, json, object},
		{http.MethodPatch, one + sub, merge, status},
		{http.MethodPatch, one, merge, func(s *side) map[string]any {
			m := metadata(s, version, uid)
			m["labels"] = map[string]any{"of": label, "more": nil}
			return map[string]any{"metadata": m}
		}},
		{http.MethodPatch, one, merge, func(s *side) map[string]any {
			return map[string]any{"metadata": map[string]any{"finalizers": nil}}
		}},
		{http.MethodPatch, one + owner, apply, func(s *side) map[string]any {
			o := object(s)
			delete(o["metadata"].(map[string]any), "resourceVersion")
			if inner, ok := o["spec"].(map[string]any); ok {
				delete(inner, "unknown") // kube-apiserver fails by itself (500) where such a one is applied
			}
			if uid == "none" {
				delete(o, "spec")
			}
			return o
		}},
		{http.MethodDelete, one, json, func(s *side) map[string]any {
			preconditions := map[string]any{}
			m := metadata(s, version, uid)
			for _, k := range []string{"uid", "resourceVersion"} {
				if m[k] != nil {
					preconditions[k] = m[k]
				}
			}
			return map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions}
		}},
	}
	return all[random.IntN(len(all))]
}

// someSpec is what an object of a kind may say, right or wrong.
func someSpec(random *rand.Rand, kind string) map[string]any {
	choose := func(all ...map[string]any) map[string]any { return all[random.IntN(len(all))] }
	spec := func(fields map[string]any) map[string]any { return map[string]any{"spec": fields} }
	switch kind {
	case "Zone":
		return choose(
			spec(map[string]any{"domainName": "example.org."}), spec(map[string]any{"domainName": "example.net.", "unknown": 1}),
			spec(map[string]any{"domainName": "b", "zoneRef": map[string]any{"name": "a"}}),
			spec(map[string]any{"domainName": ""}), spec(map[string]any{}),
		)
	case "Record":
		return choose(
			spec(map[string]any{"domainName": "a.example.org.", "type": "A", "rdata": "192.0.2.1"}),
			spec(map[string]any{"domainName": "a.example.org.", "type": "A", "rdata": "192.0.2.2", "ttl": 60}),
			spec(map[string]any{"domainName": "a.example.org.", "type": "TXT", "rdata": "x", "ttl": -1}),
			spec(map[string]any{"domainName": "a.example.org."}),
		)
	case "ZoneSlice":
		return choose(
			map[string]any{"zone": "a", "index": 1, "entries": []any{}}, map[string]any{"zone": "a", "index": 2, "journal": true,
				"text": "x\n"}, map[string]any{"index": -1},
		)
	}
	return nil
}

// kindsOf makes the kinds of the definitions.
func kindsOf(t *testing.T) *Kinds {
	t.Helper()
	kinds, err := NewKinds(os.DirFS(filepath.FromSlash(definitions)))
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}
