package sim

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/internal/testcluster"
)

// A yard is a namespace at both in which objects end.
type yard struct {
	sides     [2]*side
	namespace string
}

// The kinds of a yard, and the paths of their collections.
var yardKinds = map[string]string{
	"Zone":      "/apis/kubi.zone/v1alpha1/namespaces/%s/zones",
	"ZoneSlice": "/apis/zonefold.dev/v1alpha1/namespaces/%s/zoneslices",
	"Secret":    "/api/v1/namespaces/%s/secrets",
	"Lease":     "/apis/coordination.k8s.io/v1/namespaces/%s/leases",
}

func newYard(t *testing.T, sides [2]*side, name string) *yard {
	t.Helper()
	return &yard{sides, newNamespace(t, sides, name)}
}

func (y *yard) path(kind string) string { return fmt.Sprintf(yardKinds[kind], y.namespace) }

// add makes an object at both that owners own, as each side knows these.
func (y *yard) add(t *testing.T, kind, name string, finalizers []any, owners ...string) {
	t.Helper()
	o := sameForBoth(http.MethodPost, y.path(kind), nil)
	o.body = func(s *side) any {
		refs := []any{}
		for _, owner := range owners {
			uid := s.was[owner]["uid"]
			if uid == nil { // nobody has ever been that
				uid = "00000000-0000-0000-0000-00000000abcd"
			}
			refs = append(refs, map[string]any{"apiVersion": "kubi.zone/v1alpha1", "kind": "Zone", "name": owner, "uid": uid})
		}
		out := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name,
			"finalizers": finalizers, "ownerReferences": refs}}
		switch kind {
		case "Zone":
			out["apiVersion"], out["spec"] = "kubi.zone/v1alpha1", map[string]any{"domainName": "example.org."}
		case "ZoneSlice":
			out["apiVersion"], out["zone"], out["index"] = "zonefold.dev/v1alpha1", "a", 1
		case "Lease":
			out["apiVersion"], out["spec"] = "coordination.k8s.io/v1", map[string]any{"holderIdentity": "one"}
		}
		return out
	}
	for i, s := range y.sides {
		if status, told := s.do(t, o); status != http.StatusCreated {
			t.Fatalf("side %d does not make the %s %s (%d): %v", i, kind, name, status, told)
		}
	}
}

// remove deletes an object at both.
func (y *yard) remove(t *testing.T, kind, name string) {
	t.Helper()
	sameAnswer(t, y.sides, "", sameForBoth(http.MethodDelete, y.path(kind)+"/"+name, nil))
}

// left says what a side has: of each object its finalizers, its owners, and whether it is being deleted.
func (y *yard) left(t *testing.T, s *side) map[string]string {
	t.Helper()
	look := *s // whoever looks again and again sees versions that the other side has not
	look.names = maps.Clone(s.names)
	out := map[string]string{}
	for kind := range yardKinds {
		_, told := look.do(t, sameForBoth(http.MethodGet, y.path(kind), nil))
		list, _ := told.([]any)
		for _, one := range list {
			object, ok := one.(map[string]any)
			if !ok {
				continue
			}
			meta, _ := object["metadata"].(map[string]any)
			owners := []string{}
			refs, _ := meta["ownerReferences"].([]any)
			for _, r := range refs {
				owners = append(owners, fmt.Sprint(r.(map[string]any)["name"]))
			}
			out[kind+" "+fmt.Sprint(meta["name"])] = fmt.Sprint(meta["finalizers"], owners, meta["deletionTimestamp"])
		}
	}
	return out
}

// compare waits until both have the same.
func (y *yard) compare(t *testing.T) {
	t.Helper()
	testcluster.Eventually(t.Context(), t, "both have the same", func() string {
		return cmp.Diff(y.left(t, y.sides[0]), y.left(t, y.sides[1]))
	})
}

// compareOwners deletes owners, and compares what is left of what they own.
func compareOwners(t *testing.T, p pair) {
	y, random := newYard(t, p.sides(), "owners"), randomOf("owners")
	owners := []string{"o0", "o1", "o2", "o3", "never"}
	for _, o := range owners[:4] {
		y.add(t, "Zone", o, nil)
	}
	for i := range 24 {
		kind, finalizers := []string{"ZoneSlice", "Secret", "Lease"}[i%3], []any{}
		if random.IntN(4) == 0 {
			finalizers = append(finalizers, "zonefold.dev/withdraw")
		}
		random.Shuffle(len(owners), func(i, j int) { owners[i], owners[j] = owners[j], owners[i] })
		y.add(t, kind, fmt.Sprintf("d%d", i), finalizers, owners[:1+random.IntN(2)]...)
	}
	for round, gone := range []string{"o1", "o2", "o1"} {
		if round == 2 {
			y.add(t, "Zone", "o1", nil) // another one, which owns nothing yet
			y.add(t, "Secret", "heir", nil, "o1")
		}
		canary := fmt.Sprintf("canary%d", round) // when it is gone, so is what was deleted before
		y.add(t, "Zone", canary, nil)
		y.add(t, "Secret", canary+"-s", nil, canary)
		y.remove(t, "Zone", gone)
		y.compare(t)
		y.remove(t, "Zone", canary)
		testcluster.Eventually(t.Context(), t, "the canary dies", func() string {
			return y.left(t, y.sides[0])["Secret "+canary+"-s"]
		})
		y.compare(t)
	}
	if n := len(y.left(t, y.sides[1])); n < 6 {
		t.Fatalf("%d objects are left: nothing is compared", n)
	}
}

// compareEndOfNamespace deletes a namespace, and compares what is left in it and what may be done in it.
func compareEndOfNamespace(t *testing.T, p pair) {
	y := newYard(t, p.sides(), "ends")
	held := []any{"zonefold.dev/withdraw"}
	y.add(t, "Zone", "held", held)
	y.add(t, "Zone", "free", nil)
	y.add(t, "Secret", "held-secret", held, "held")
	y.add(t, "Secret", "free-secret", nil)
	y.add(t, "Lease", "lease", nil)
	own := "/api/v1/namespaces/" + y.namespace
	for i, s := range y.sides {
		if status, told := s.do(t, sameForBoth(http.MethodDelete, own, nil)); status != http.StatusOK {
			t.Fatalf("side %d does not delete the namespace (%d): %v", i, status, told)
		}
	}
	y.compare(t)
	zone, secret := y.path("Zone"), y.path("Secret")
	spec := map[string]any{"domainName": "example.net."}
	apply := sameForBoth(http.MethodPatch, zone+"/new?fieldManager=one", map[string]any{"apiVersion": "kubi.zone/v1alpha1",
		"kind": "Zone", "metadata": map[string]any{"name": "new"}, "spec": spec})
	apply.contentType = applyPatch
	merge := sameForBoth(http.MethodPatch, zone+"/held", map[string]any{"spec": spec})
	unhold := sameForBoth(http.MethodPatch, zone+"/held", map[string]any{"metadata": map[string]any{"finalizers": nil}})
	more := sameForBoth(http.MethodPatch, secret+"/held-secret", map[string]any{"metadata": map[string]any{
		"finalizers": []any{"zonefold.dev/withdraw", "example.org/more"}}})
	unholdSecret := sameForBoth(http.MethodPatch, secret+"/held-secret", map[string]any{"metadata": map[string]any{
		"finalizers": []any{}}})
	for _, o := range []*operation{&merge, &unhold, &more, &unholdSecret} {
		o.contentType = mergePatch
	}
	named := func(name string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}}
	}
	for _, o := range []operation{
		sameForBoth(http.MethodPost, secret, named("new")), sameForBoth(http.MethodPost, secret, named("held-secret")),
		apply, merge, more, sameForBoth(http.MethodDelete, zone+"/held", nil), sameForBoth(http.MethodGet, zone, nil),
		unhold, unholdSecret,
	} {
		sameAnswer(t, y.sides, "in a namespace that ends: ", o)
	}
	testcluster.Eventually(t.Context(), t, "the namespace is gone at both", func() string {
		for i, s := range y.sides {
			if status, _ := s.do(t, sameForBoth(http.MethodGet, own, nil)); status != http.StatusNotFound {
				return fmt.Sprintf("side %d answers %d", i, status)
			}
		}
		return ""
	})
	sameAnswer(t, y.sides, "in a namespace that is gone: ", sameForBoth(http.MethodPost, secret, named("new")))
	sameAnswer(t, y.sides, "in a namespace that is gone: ", sameForBoth(http.MethodGet, secret, nil))
	sameAnswer(t, y.sides, "in a namespace that is gone: ", apply)
}

// compareTimes compares what is said of what was too long ago, and of what has not happened yet.
func compareTimes(t *testing.T, p pair) {
	here := NewAPI(p.here.kinds, time.Now) // whose past may be forgotten
	p.transports[1], p.here = here, here
	y := newYard(t, p.sides(), "times")
	y.add(t, "Zone", "a", nil)
	here.expire("zones")
	const future = "999999999"
	for _, query := range []string{
		"watch=true&resourceVersion=1",
		"watch=true&resourceVersion=1&allowWatchBookmarks=true&labelSelector=a%3Db",
	} {
		o := sameForBoth(http.MethodGet, y.path("Zone")+"?"+query, nil)
		var told [2][]any
		for i, s := range y.sides {
			response := s.ask(t, o)
			told[i] = append([]any{response.StatusCode}, s.told(t, follow(response), false)...)
		}
		if diff := cmp.Diff(told[0], told[1]); diff != "" || !slices.Contains(told[0], any("ERROR")) {
			t.Errorf("%s is told what only one says (-kube-apiserver):\n%s", query, diff)
		}
	}
	for _, query := range []string{
		"resourceVersion=" + future + "&resourceVersionMatch=NotOlderThan",
		"resourceVersion=" + future,
		"limit=1&continue=" + url.QueryEscape("nothing that it ever said"),
		"labelSelector=" + url.QueryEscape("a in"),
		"fieldSelector=spec.domainName%3Da",
	} {
		sameAnswer(t, y.sides, "", sameForBoth(http.MethodGet, y.path("Zone")+"?"+query, nil))
	}
}
