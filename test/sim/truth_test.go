package sim

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/zonefold/zonefold/internal/testcluster"
)

func TestMain(m *testing.M) {
	os.Exit(testcluster.MainWith(m, testcluster.Options{ControllerManager: true, CRDs: []string{definitions}}))
}

const definitions = "../../config/crd"

// How many operations the two API servers are compared with for each kind. The records of bindy are alike.
const (
	operations       = 90
	operationsRecord = 25
)

// A pair is the two API servers: kube-apiserver, and that of the simulation.
type pair struct {
	servers    [2]string
	transports [2]http.RoundTripper
	here       *API
}

// sides are the two for who has not asked yet.
func (p pair) sides() [2]*side {
	return [2]*side{newSide(p.servers[0], p.transports[0]), newSide(p.servers[1], p.transports[1])}
}

// pairForTest starts both.
func pairForTest(t *testing.T) pair {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", testcluster.ForTest(t).Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	here := NewAPI(kindsOf(t), time.Now)
	return pair{[2]string{config.Host, "http://api.invalid"}, [2]http.RoundTripper{transport, here}, here}
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

// TestItAnswersAsKubeAPIServerDoes asks both for the same at random, about each kind that operators write.
func TestItAnswersAsKubeAPIServerDoes(t *testing.T) {
	p := pairForTest(t)
	var all sync.WaitGroup
	for _, e := range examples(t, p.here.kinds) {
		all.Go(func() { // most of the time each waits for kube-apiserver
			t.Run(e.kind.plural+"."+e.kind.Group, func(t *testing.T) { compareOne(t, p, e) })
		})
	}
	all.Go(func() { t.Run("what has an owner", func(t *testing.T) { compareOwners(t, p) }) })
	all.Go(func() { t.Run("a namespace that ends", func(t *testing.T) { compareEndOfNamespace(t, p) }) })
	all.Go(func() { t.Run("what is forgotten or has not happened", func(t *testing.T) { compareTimes(t, p) }) })
	all.Wait()
}

// compareOne compares what both say about objects of one kind.
func compareOne(t *testing.T, p pair, e example) {
	l := &living{example: e, sides: p.sides(), random: randomOf(e.kind.plural + e.kind.Group), names: []string{"a", "b"}}
	for _, s := range l.sides {
		s.unmanaged = e.kind.fields("") == nil // of a Lease it is not noted here
	}
	l.namespace = newNamespace(t, l.sides, strings.ToLower(e.kind.Kind))
	if !e.kind.namespaced { // the names of others are in the same lists
		l.names = []string{l.namespace + "-a", l.namespace + "-b"}
	}
	l.watchIt(t, true)
	n := operations
	if e.kind.Group == "bindy.firestoned.io" && strings.HasSuffix(e.kind.Kind, "Record") {
		n = operationsRecord
	}
	for range n {
		if l.random.IntN(12) == 0 {
			l.watchIt(t, false)
		}
		l.compare(t, l.some())
	}
	l.finish(t)
}

// randomOf makes the numbers of one part of a test, the same each time.
func randomOf(name string) *rand.Rand {
	sum := fnv.New64()
	_, _ = sum.Write([]byte(name)) // it never fails
	return rand.New(rand.NewPCG(2026, sum.Sum64()))
}

// newNamespace makes a namespace at both, and returns its name. The real server may be that of an earlier run.
func newNamespace(t *testing.T, sides [2]*side, prefix string) string {
	t.Helper()
	name := fmt.Sprintf("%s-%d", prefix, time.Now().UnixNano())
	body := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
	for _, s := range sides {
		if status, told := s.do(t, sameForBoth(http.MethodPost, "/api/v1/namespaces", body)); status != http.StatusCreated {
			t.Fatalf("the namespace %s is not made (%d): %v", name, status, told)
		}
	}
	return name
}

// A living is a series of operations on objects of one kind.
type living struct {
	example
	sides     [2]*side
	random    *rand.Rand
	namespace string
	names     []string
	n         int
	applied   time.Time // when both had answered the last server-side apply
	watches   []*watching
}

// compare has both do the same.
//
// Managed fields are in the order of the seconds in which they were last applied, and an apply that changes nothing but
// this order is stored. One that came in the second of another would be the last of them at one server only.
func (l *living) compare(t *testing.T, o operation) (status int) {
	t.Helper()
	l.n++
	if o.contentType == applyPatch {
		<-time.After(time.Until(l.applied.Truncate(time.Second).Add(time.Second)))
		defer func() { l.applied = time.Now() }()
	}
	return sameAnswer(t, l.sides, fmt.Sprintf("operation %d: ", l.n), o)
}

// sameAnswer has both do the same, and fails if they do not answer the same.
func sameAnswer(t *testing.T, sides [2]*side, which string, o operation) int {
	t.Helper()
	var status [2]int
	var told [2]any
	for i, s := range sides {
		status[i], told[i] = s.do(t, o)
	}
	if diff := cmp.Diff(told[0], told[1]); status[0] != status[1] || diff != "" {
		body, _ := json.Marshal(o.body(sides[0]))
		t.Fatalf("%s%s %s (%s) %s\nis answered %d by kube-apiserver, and %d here; what only one says (-kube-apiserver):\n%s",
			which, o.method, o.path(sides[0]), o.contentType, body, status[0], status[1], diff)
	}
	return status[0]
}

// finish empties the collection, makes what ends each watch, and compares what was watched.
func (l *living) finish(t *testing.T) {
	for _, name := range l.names {
		l.compare(t, l.unhold(name))
		l.compare(t, sameForBoth(http.MethodDelete, l.one(name), nil))
	}
	for _, name := range l.names {
		object := l.right()
		object["metadata"] = map[string]any{"name": name, "labels": l.labels("end"), "annotations": map[string]any{
			endOfWatch: "yes"}}
		if status := l.compare(t, sameForBoth(http.MethodPost, l.collection(), object)); status != http.StatusCreated {
			t.Fatalf("the object of testdata/truth.yaml is not right: %d", status)
		}
	}
	for _, w := range l.watches {
		w.compare(t, l.sides)
	}
}
