package bind9

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend/engine"
	named "github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// An archive has seen the zones of several servers under their serials.
type archive struct {
	testing.TB
	mu   sync.Mutex
	seen map[uint32]string // a fingerprint of the content
	who  map[uint32]string
}

// transfer reads a zone, and complains of a serial that stood for another content before, at whichever server.
func (a *archive) transfer(p *testPod, name string, zone dnsname.Name) (serial uint32, sets int) {
	all, err := p.server(transferKey).Transfer(context.Background(), zone)
	if err != nil {
		return 0, 0
	}
	content := sha256.New()
	for _, set := range all {
		if set.Type == rr.TypeSOA {
			soa, err := rr.ParseSOA(set.Data[0])
			if err != nil {
				a.Error(err)
			}
			serial = soa.Serial
			continue
		}
		sets++
		fmt.Fprintln(content, set)
	}
	digest := string(content.Sum(nil))
	a.mu.Lock()
	defer a.mu.Unlock()
	if before, ok := a.seen[serial]; ok && before != digest {
		a.Errorf("serial %d is something else at %s than it was at %s", serial, name, a.who[serial])
	}
	a.seen[serial], a.who[serial] = digest, name
	return serial, sets
}

// watch transfers the zone from each of the servers all the time, until end is called; no serial may fall.
func (a *archive) watch(zone dnsname.Name, servers map[string]*testPod) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	for name, p := range servers {
		watching.Go(func() {
			last := uint32(0)
			for ctx.Err() == nil {
				serial, _ := a.transfer(p, name, zone)
				if serial != 0 && last != 0 && rr.SerialLess(serial, last) {
					a.Errorf("the serial of %s fell from %d to %d", name, last, serial)
				}
				last = rr.LaterSerial(last, serial)
			}
		})
	}
	end = func() { cancel(); watching.Wait() }
	a.Cleanup(end)
	return end
}

// lose has a server that is down lose all that it had.
func (p *testPod) lose() {
	p.Helper()
	files, err := filepath.Glob(filepath.Join(p.bindcar.ZoneDir, "*"))
	for _, file := range files {
		err = errors.Join(err, os.RemoveAll(file))
	}
	if err != nil {
		p.Fatal(err)
	}
}

// taken publishes, and waits until a target has confirmed; the others may be down.
func (d *desk) taken(target string, content engine.Content, meanwhile func()) (serial uint32) {
	d.Helper()
	seq := d.feed.Publish(content, nil)
	meanwhile()
	until(d, "was taken by target "+target, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		serial = d.last[target].Serial
		return d.last[target].Seq >= seq
	})
	return serial
}

// TestALaggingPrimaryRaisesTheSerial has a primary that was away, and now needs more messages than there are serials
// between what it has and what the other one has: that was made anew, in one call.
func TestALaggingPrimaryRaisesTheSerial(t *testing.T) {
	t.Parallel()
	const many = 8_000
	first, second, follower := startPod(t, named.Primary, false), startPod(t, named.Primary, false),
		startPod(t, named.Secondary, false)
	d := newDesk(t, "example.org.", first.client(newGrant()), second.client(newGrant()))
	a := &archive{TB: t, seen: map[uint32]string{}, who: map[uint32]string{}}
	end := a.watch(d.zone, map[string]*testPod{"the first primary": first, "the second primary": second,
		"the secondary": follower})
	d.delivered(d.content(10))
	s, err := NewSecondary(Config{Endpoint: follower.place(), Access: newGrant(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	primaries := []netip.AddrPort{first.address(), second.address()}
	if _, err := s.Follow(t.Context(), d.zone, primaries, transferKey, false); err != nil {
		t.Fatal(err)
	}
	second.stop()
	var before uint32
	for i := range 5 {
		before = d.taken("0", d.content(11+i), func() {})
	}
	first.stop()
	first.lose()
	anew := d.taken("0", d.content(many), first.start)
	second.start()
	var serial uint32
	until(t, "had the same serial everywhere", func() bool {
		one, n := a.transfer(first, "the first primary", d.zone)
		two, m := a.transfer(second, "the second primary", d.zone)
		three, o := a.transfer(follower, "the secondary", d.zone)
		if one == two && two != three {
			_ = s.Refresh(t.Context(), d.zone)
		}
		serial = one
		return one != 0 && one == two && two == three && n == many+3 && m == n && o == n || t.Failed()
	})
	end()
	if serial <= anew || anew <= before {
		t.Errorf("the serial was %d before, %d at the server that was made anew, and is %d", before, anew, serial)
	}
}
