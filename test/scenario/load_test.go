package scenario

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestEverythingCrashesUnderLoad kills the operator, the API server and BIND, each at moments of its own, while Records
// are created, changed and deleted, and watches every version of the zone that BIND shows. BIND writes its journal to
// the disk before it answers, so that it comes back with what it has shown. The operator alone is killed at every
// effect in virtual time (cmd/operator, TestEveryEffectOfALifeInterrupted).
func TestEverythingCrashesUnderLoad(t *testing.T) {
	s := newStage(t)
	s.lacks = "is forbidden" // an API server that starts forbids everything before it has read the roles
	seen, calm := s.load()
	var parts sync.WaitGroup
	reborn := make(chan struct{}) // closed after the last birth of the API server
	over := func(int) bool {
		select {
		case <-reborn:
			return true
		default:
			return false
		}
	}
	parts.Go(func() {
		defer close(reborn)
		s.crash(func(killed int) bool { return killed == 3 }, victim{
			// It takes seconds to start, and has clients wait for seconds more.
			least: 3 * time.Second, most: 7 * time.Second,
			kill:  func() error { return s.cluster.KillAPIServer(s.ctx) },
			start: func() error { return s.cluster.StartAPIServer(s.ctx) },
		})
	})
	parts.Go(func() {
		s.crash(over, victim{
			most:  2 * time.Second,
			kill:  func() error { s.bind.Kill(); return nil },
			start: func() error { return s.bind.Start(s.ctx) },
		})
	})
	// On a slow machine few of these lives are long enough for a version: there are more of them then.
	shown := func(killed int) bool { return over(killed) && seen.versions() >= leastVersions }
	s.crashOperator(shown, func(int) time.Duration { return 300*time.Millisecond + rand.N(3700*time.Millisecond) })
	parts.Wait()
	if t.Failed() {
		calm()
		return
	}
	s.start()
	calm()
	s.converged(seen, leastVersions)
}

// leastVersions is how many versions a server has to show, for a run that says anything.
const leastVersions = 8

// load begins to change Records and to watch the zone, until calm is called.
func (s *scene) load() (seen *history, calm func()) {
	s.t.Helper()
	s.bind = s.startBIND("example.org.")
	s.backend("b", "", s.bind)
	s.apply(www("b"))
	seen = newHistory()
	ctx, stop := context.WithCancel(s.ctx)
	var parts sync.WaitGroup
	parts.Go(func() { s.writeRecords(ctx, 5*time.Millisecond) })
	parts.Go(func() { s.watchZone(ctx, seen) })
	calm = func() { stop(); parts.Wait() }
	s.t.Cleanup(calm)
	return seen, calm
}

// crashOperator starts the operator and kills it after a life, until that was enough.
// One that ends by itself, as without an API server, is started again, as kubelet does.
func (s *scene) crashOperator(enough func(killed int) bool, life func(killed int) time.Duration) {
	s.t.Helper()
	killed := 0
	for !enough(killed) {
		s.start()
		select {
		case <-time.After(life(killed)):
			killed++
		case <-s.op.Done():
			if s.lacks == "" {
				s.t.Fatal("the operator ended by itself")
			}
		case <-s.ctx.Done():
			s.t.Fatal("it takes too long")
		}
		s.op.Kill()
	}
	s.t.Logf("the operator was killed %d times", killed)
}

// acts waits until the server shows a version that it has not shown before.
func (s *scene) acts(seen *history) {
	s.t.Helper()
	before := seen.versions()
	s.eventually("a new version", func() string {
		if seen.versions() > before {
			return ""
		}
		return "there is none"
	})
}

// A victim is a server that is killed after random times and started again.
type victim struct {
	least, most time.Duration
	kill, start func() error
}

// crash kills a server again and again, until that was enough.
func (s *scene) crash(enough func(killed int) bool, v victim) {
	killed := 0
	for ; !enough(killed) && s.ctx.Err() == nil; killed++ {
		pause(s.ctx, v.least+rand.N(v.most-v.least))
		if err := v.kill(); err != nil {
			s.t.Error(err)
			return
		}
		pause(s.ctx, rand.N(500*time.Millisecond))
		if err := v.start(); err != nil {
			s.t.Error(err)
			return
		}
	}
	s.t.Logf("a server was killed %d times", killed)
}

// pause lets time pass: what happens meanwhile is the test.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// converged waits until the zone is what the Records ask for, in the status and at the
// server, and looks at what the server has shown on the way, which is so many versions
// at least.
func (s *scene) converged(seen *history, versions int) {
	s.t.Helper()
	s.ready("zone a/org", "record a/www")
	s.eventually("the Records at the server", func() string {
		var records kubizone.RecordList
		if err := s.client.List(s.ctx, &records, client.InNamespace(s.prefix+"a")); err != nil {
			return err.Error()
		}
		want := map[string]string{}
		for i := range records.Items {
			if records.Items[i].Spec.Type != "A" {
				continue
			}
			want[records.Items[i].Spec.DomainName] = records.Items[i].Spec.RData
		}
		sets, err := s.bind.Transfer(s.ctx, name(s.text("example.org.")))
		if err != nil {
			return err.Error()
		}
		got := map[string]string{}
		for _, set := range sets {
			if set.Type == rr.TypeA {
				got[set.Name.String()] = strings.Join(set.Data, " ")
			}
		}
		if !maps.Equal(got, want) {
			return fmt.Sprintf("it has %v, not %v", got, want)
		}
		return ""
	})
	s.agree("a/org")
	seen.mu.Lock()
	defer seen.mu.Unlock()
	for _, lie := range seen.lies {
		s.t.Error(lie)
	}
	if len(seen.contents) < versions {
		s.t.Errorf("the server showed %d versions only", len(seen.contents))
	}
	s.t.Logf("%d versions of the zone in %d transfers", len(seen.contents), seen.transfers)
}

// writeRecords creates, changes and deletes Records until ctx ends, with a pause after each.
func (s *scene) writeRecords(ctx context.Context, rest time.Duration) {
	for i := 0; ctx.Err() == nil; i++ {
		pause(ctx, rest)
		o := s.reference(fmt.Sprintf("record a/r%d", rand.IntN(60)))
		if rand.IntN(4) == 0 {
			_ = s.client.Delete(ctx, o.blank(), client.GracePeriodSeconds(0)) // it may not exist
			continue
		}
		o.spec = map[string]any{"domainName": o.name + s.text(".example.org."), "type": "A",
			"rdata": fmt.Sprintf("10.0.%d.%d", i/250%250, i%250)}
		if s.send(o) != nil {
			pause(ctx, 20*time.Millisecond) // the API server is away
		}
	}
}

// history is what servers have shown under each serial.
type history struct {
	mu        sync.Mutex
	contents  map[uint32]string
	last      map[string]uint32 // by address
	transfers int
	lies      []string

	closed  int           // answers of servers that did not have everything yet
	heard   time.Time     // when any server has answered
	silence time.Duration // the longest time that none did
	gap     time.Duration // the longest time without a new version
	newest  time.Time     // when the last one came
}

func newHistory() *history {
	return &history{contents: map[uint32]string{}, last: map[string]uint32{}}
}

func (h *history) versions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.contents)
}

// watchZone transfers the zone again and again.
func (s *scene) watchZone(ctx context.Context, h *history) {
	for ctx.Err() == nil {
		sets, err := s.bind.Transfer(ctx, name(s.text("example.org.")))
		if err != nil {
			pause(ctx, 20*time.Millisecond) // the server is away
			continue
		}
		h.note(s.bind.Addr(), sets)
		pause(ctx, 5*time.Millisecond) // the others need the processor too
	}
}

// note takes in what the server at an address has shown.
func (h *history) note(at string, sets []rr.Set) {
	var content strings.Builder
	for _, set := range sets {
		if set.Type != rr.TypeSOA {
			fmt.Fprintln(&content, set.Name, set.TTL, set.Type, set.Data)
		}
	}
	h.noteVersion(at, serialOf(sets), content.String())
}

func (h *history) noteVersion(at string, serial uint32, content string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.transfers++
	if old, ok := h.contents[serial]; ok && old != content {
		h.lies = append(h.lies, fmt.Sprintf("serial %d labels two contents:\n%s\nand, at %s,\n%s", serial, old, at, content))
	}
	if _, ok := h.contents[serial]; !ok {
		now := time.Now()
		if !h.newest.IsZero() {
			h.gap = max(h.gap, now.Sub(h.newest))
		}
		h.newest = now
	}
	h.contents[serial] = content
	h.noteSerial(at, serial)
}

// noteSerial takes in under which serial the server at an address answers. mu is held.
func (h *history) noteSerial(at string, serial uint32) {
	if last := h.last[at]; last != serial && last != 0 && !rr.SerialLess(last, serial) {
		h.lies = append(h.lies, fmt.Sprintf("the serial of %s fell from %d to %d", at, last, serial))
	}
	h.last[at] = serial
}
