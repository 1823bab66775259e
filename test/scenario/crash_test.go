package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/rr"
)

// TestAHundredCrashesUnderLoad kills the operator at random moments while Records are
// created, changed and deleted, and watches every version of the zone that BIND shows.
func TestAHundredCrashesUnderLoad(t *testing.T) {
	const kills = 100
	s := newStage(t)
	s.bind = s.startBIND("example.org.")
	s.backend("b", "", s.bind)
	s.apply(www("b"))
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	var parts sync.WaitGroup
	var seen history
	parts.Go(func() { s.writeRecords(ctx) })
	parts.Go(func() { s.watchZone(ctx, &seen) })
	for range kills {
		s.start()
		select {
		case <-time.After(time.Duration(300+rand.IntN(700)) * time.Millisecond):
		case <-s.op.Done():
			t.Fatal("the operator ended by itself")
		}
		s.op.Kill()
	}
	s.start()
	stop()
	parts.Wait()
	s.ready("zone a/org", "record a/www")
	s.agree("a/org")
	seen.mu.Lock()
	defer seen.mu.Unlock()
	for _, lie := range seen.lies {
		t.Error(lie)
	}
	if len(seen.contents) < 20 {
		t.Errorf("the server showed %d versions only", len(seen.contents))
	}
	t.Logf("%d versions of the zone in %d transfers", len(seen.contents), seen.transfers)
}

// writeRecords creates, changes and deletes Records until ctx ends.
func (s *scene) writeRecords(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		o := s.reference(fmt.Sprintf("record a/r%d", rand.IntN(60)))
		if rand.IntN(4) == 0 {
			_ = s.client.Delete(ctx, o.blank(), client.GracePeriodSeconds(0))
			continue
		}
		o.spec = map[string]any{"domainName": o.name + s.text(".example.org."), "type": "A", "rdata": fmt.Sprintf("10.0.%d.%d", i/250%250, i%250)}
		_ = s.put(o)
	}
}

// history is what a server has shown under each serial.
type history struct {
	mu        sync.Mutex
	contents  map[uint32]string
	last      uint32
	transfers int
	lies      []string
}

// watchZone transfers the zone again and again.
func (s *scene) watchZone(ctx context.Context, h *history) {
	h.contents = map[uint32]string{}
	for ctx.Err() == nil {
		sets, err := s.bind.Transfer(ctx, name(s.text("example.org.")))
		if err == nil {
			h.note(sets)
		}
	}
}

func (h *history) note(sets []rr.Set) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var content strings.Builder
	var serial uint32
	for _, set := range sets {
		if set.Type != rr.TypeSOA {
			fmt.Fprintln(&content, set.Name, set.TTL, set.Type, set.Data)
			continue
		}
		if soa, err := rr.ParseSOA(set.Data[0]); err == nil {
			serial = soa.Serial
		}
	}
	h.transfers++
	if old, ok := h.contents[serial]; ok && old != content.String() {
		h.lies = append(h.lies, fmt.Sprintf("serial %d labels two contents:\n%s\nand\n%s", serial, old, content.String()))
	}
	if h.last != serial && h.last != 0 && !rr.SerialLess(h.last, serial) {
		h.lies = append(h.lies, fmt.Sprintf("the serial fell from %d to %d", h.last, serial))
	}
	h.contents[serial], h.last = content.String(), serial
}
