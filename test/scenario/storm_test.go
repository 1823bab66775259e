package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// TestThousandsOfMalformedObjects puts them beside a zone that goes on as if nothing was.
func TestThousandsOfMalformedObjects(t *testing.T) {
	const records, zones, changes = 2000, 300, 10
	s := newKubizone(t)
	s.backend("bind", "default: true, foreign: Delete, auditInterval: 1s", s.bind)
	s.serve("example.org.")
	s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
	`)
	s.unharmed("192.0.2.1")
	requests, writes := s.requests(), s.metric("zonefold_api_writes_total")
	created := s.flood(records, zones)
	for i := range changes {
		began := time.Now()
		address := fmt.Sprintf("192.0.2.%d", i+10)
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: ` + address + `}`)
		s.answers("www.example.org. A", address)
		if took := time.Since(began); took > promptly {
			t.Errorf("a change took %v beside the malformed objects", took)
		}
	}
	if err := <-created; err != nil {
		t.Fatal(err)
	}
	for at := 0.0; at < records+zones; { // patience is for the next one, not for all
		s.eventually("statuses of the flood", func() string {
			n := s.metric(`zonefold_api_writes_total`) - writes
			if n <= at {
				return fmt.Sprintf("%v of %d are written", n, records+zones)
			}
			at = n
			return ""
		})
	}
	s.eventually("conditions", s.undecided)
	s.unharmed(fmt.Sprintf("192.0.2.%d", changes+9))
	// A status and an event each; a change writes the ceiling, the content and two statuses.
	if n := s.requests() - requests; n > 2*(records+zones)+10*changes {
		t.Errorf("%d objects and %d changes took %v requests that write", records+zones, changes, n)
	}
	if rss := s.process("process_resident_memory_bytes"); rss > 200<<20 {
		t.Errorf("the operator has %.0f MiB", rss/(1<<20))
	}
	s.restartChangesNothing()
	if n := s.metric("zonefold_api_writes_total"); n != 0 {
		t.Errorf("%v writes after the restart:\n%s", n, s.writes())
	}
}

// promptly is how long a change may take on a machine that is busy with a flood.
const promptly = 5 * time.Second

// flood begins to create objects that are wrong in every way that oddRecords and oddZones know.
func (s *scene) flood(records, zones int) <-chan error {
	s.t.Helper()
	s.ensureNamespace(s.prefix + "flood")
	var todo []*unstructured.Unstructured
	for i := range max(records, zones) {
		if i < records {
			w := oddRecords[i%len(oddRecords)]
			if len(w.spec) > 10_000 {
				w = oddRecords[0] // a few of these are enough
			}
			todo = append(todo, s.objects(fmt.Sprintf("record flood/odd-%d: %s", i, w.spec))[0].loose())
		}
		if i < zones {
			todo = append(todo, s.objects(fmt.Sprintf("zone flood/odd-%d: %s", i, oddZones[i%len(oddZones)].spec))[0].loose())
		}
	}
	next, done := make(chan *unstructured.Unstructured), make(chan error, 1)
	var workers sync.WaitGroup
	failed := make([]error, 2) // more, and the API server tells nobody of any change for half a minute
	for i := range failed {
		workers.Go(func() {
			for o := range next {
				failed[i] = errors.Join(failed[i], s.client.Create(s.ctx, o))
			}
		})
	}
	go func() {
		for _, o := range todo {
			next <- o
		}
		close(next)
		workers.Wait()
		done <- errors.Join(failed...)
	}()
	return done
}

// undecided returns an object of the flood that nothing is said about, or too little.
func (s *scene) undecided() string {
	var records kubizone.RecordList
	var zones kubizone.ZoneList
	in := client.InNamespace(s.prefix + "flood")
	if err := errors.Join(s.client.List(s.ctx, &records, in), s.client.List(s.ctx, &zones, in)); err != nil {
		return err.Error()
	}
	for i := range records.Items {
		if c := find(records.Items[i].Status.Conditions, "Ready"); c == nil || c.Status != "False" ||
			!strings.HasSuffix(c.Message, ".") {
			return fmt.Sprintf("Record %s: %v", records.Items[i].Name, c)
		}
	}
	for i := range zones.Items {
		if c := find(zones.Items[i].Status.Conditions, "Ready"); c == nil || c.Status != "False" ||
			!strings.HasSuffix(c.Message, ".") {
			return fmt.Sprintf("Zone %s: %v", zones.Items[i].Name, c)
		}
	}
	return ""
}

// requests counts what the operator has asked the API server to write, whether it did or not.
func (s *scene) requests() float64 {
	s.t.Helper()
	m, err := s.op.Metrics("rest_client_requests_total")
	if err != nil {
		s.t.Fatal(err)
	}
	sum := 0.0
	for sample, n := range m {
		if !strings.Contains(sample, `method="GET"`) {
			sum += n
		}
	}
	if sum == 0 {
		s.t.Fatalf("the operator counts no requests: %v", m)
	}
	return sum
}

// process reads one metric of the operator's process.
func (s *scene) process(metric string) float64 {
	s.t.Helper()
	n := s.metric(metric)
	if n == 0 {
		s.t.Fatalf("the operator has no metric %s", metric)
	}
	return n
}

// allVersions returns the resourceVersions of all objects of ours in the cluster.
func (s *scene) allVersions() string {
	s.t.Helper()
	var zones kubizone.ZoneList
	var records kubizone.RecordList
	var parts zonefold.ZoneSliceList
	for _, err := range []error{s.client.List(s.ctx, &zones), s.client.List(s.ctx, &records),
		s.client.List(s.ctx, &parts)} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	var out []string
	for i := range zones.Items {
		out = append(out, fmt.Sprintf("Zone %s/%s %s", zones.Items[i].Namespace, zones.Items[i].Name,
			zones.Items[i].ResourceVersion))
	}
	for i := range records.Items {
		out = append(out, fmt.Sprintf("Record %s/%s %s", records.Items[i].Namespace, records.Items[i].Name,
			records.Items[i].ResourceVersion))
	}
	for i := range parts.Items {
		out = append(out, fmt.Sprintf("ZoneSlice %s/%s %s", parts.Items[i].Namespace, parts.Items[i].Name,
			parts.Items[i].ResourceVersion))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// difference returns the lines that are not in both texts.
func difference(before, after string) string {
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	var out []string
	for _, line := range old {
		if !slices.Contains(now, line) {
			out = append(out, "- "+line)
		}
	}
	for _, line := range now {
		if !slices.Contains(old, line) {
			out = append(out, "+ "+line)
		}
	}
	return strings.Join(out, "\n")
}

// restarted kills the operator and starts it with the rights of config/ again, and waits
// until it has looked at everything.
func (s *scene) restarted(args ...string) {
	s.t.Helper()
	s.op.Kill()
	kubeconfig, err := s.cluster.KubeconfigFor(s.ctx, testoperator.Namespace, "zonefold-operator")
	if err != nil {
		s.t.Fatal(err)
	}
	s.startWith(testoperator.Options{Kubeconfig: kubeconfig, NoElection: true, Args: args})
	s.eventually("ready", func() string {
		if !s.op.Ready() {
			return "it is not"
		}
		_, err := s.op.Metrics("zonefold_")
		if err != nil {
			return err.Error()
		}
		return ""
	})
	s.audited(3)
}

// rests waits until the operator has written nothing for longer than it waits with statuses that may settle.
func (s *scene) rests() {
	s.t.Helper()
	last, since := s.requests(), time.Now()
	s.eventually("rest", func() string {
		if now := s.requests(); now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) < 3*time.Second {
			return "the operator still writes"
		}
		return ""
	})
}

// restartChangesNothing compares all objects and the zone of BIND before and after a restart.
func (s *scene) restartChangesNothing() {
	s.t.Helper()
	s.rests()
	before, serial, updates := s.allVersions(), s.serial(s.bind, "example.org."), s.updates(s.bind)
	s.restarted()
	if d := difference(before, s.allVersions()); d != "" {
		s.t.Errorf("the restart changed:\n%s\n%s", d, s.writes())
	}
	if now := s.serial(s.bind, "example.org."); now != serial || s.updates(s.bind) != updates {
		s.t.Errorf("the serial went from %d to %d, with %d updates", serial, now, s.updates(s.bind)-updates)
	}
	s.sound()
}

// loose returns the object as it is written, whatever its schema says.
func (o object) loose() *unstructured.Unstructured {
	group, kind := o.apiVersion()
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group, "kind": kind, "metadata": map[string]any{"namespace": o.namespace, "name": o.name},
		"spec": o.spec,
	}}
}
