package bindcar

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/bind9"
)

// failing is the control channel of BIND, which breaks some connections.
func failing(t *testing.T, control uint16, breaks func(n int64) bool) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var count atomic.Int64
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer from.Close()
				if breaks(count.Add(1)) {
					return
				}
				to, err := new(net.Dialer).DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", control))
				if err != nil {
					return
				}
				defer to.Close()
				go func() { _, _ = io.Copy(to, from) }()
				_, _ = io.Copy(from, to)
			}()
		}
	}()
	return l.Addr().String()
}

// TestAZoneThatBINDDidNotAnswerAboutIsAskedAboutAgain has the control channel break once BIND has said that it runs.
func TestAZoneThatBINDDidNotAnswerAboutIsAskedAboutAgain(t *testing.T) {
	f := newFixture(t, nil)
	if status, text := f.call("POST", "/api/v1/zones", createBody("a.test", "")); status != 201 {
		t.Fatal(status, text)
	}
	if err := os.Remove(filepath.Join(f.dir, "a.test"+noteSuffix)); err != nil {
		t.Fatal(err)
	}
	f.write(filepath.Join(f.dir, "c.test"+noteSuffix), `{"zone":"c.test","type":"primary"}`)
	f.serve(func(s *Settings) {
		s.RNDC = failing(t, f.control, func(n int64) bool { return n > 1 && n < 6 })
	})
	until(t, "taking over", func() bool {
		_, text := f.call("GET", "/api/v1/zones", "")
		return text == `{"zones":["a.test"],"count":1}`
	})
}

// TestAZoneOfATypeThatIsNotManagedIsAskedAboutOnce has a file of the name of a zone that is none of ours: to ask again
// changes nothing.
func TestAZoneOfATypeThatIsNotManagedIsAskedAboutOnce(t *testing.T) {
	f := newFixture(t, nil)
	f.write(filepath.Join(f.conf, bind9.FileZones),
		`zone "stub.test" { type static-stub; server-addresses { 127.0.0.1; }; };`)
	f.write(filepath.Join(f.dir, "stub.test"+zoneSuffix), "nobody's")
	f.configure(bind9.Options{Zones: true, Recursion: true})
	if err := f.Stop(); err != nil {
		t.Fatal(err)
	}
	f.startNamed()
	server, err := New(Options{Settings: f.settings(), Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if before := server.store.zones(); len(before) != 1 {
		t.Errorf("before BIND has said what it is, the zones are %q", before)
	}
	if server.adopt(ctx); ctx.Err() != nil || len(server.store.zones()) != 0 {
		t.Errorf("it is not known in time that %q are none of ours: %v", server.store.zones(), ctx.Err())
	}
}

// TestAListLacksNoZoneWhileBINDHasNotBeenAsked has a list called for before BIND has answered: who takes it for all
// that there is, such as who declares what a server is to have, must not lose a zone.
func TestAListLacksNoZoneWhileBINDHasNotBeenAsked(t *testing.T) {
	f := newFixture(t, nil)
	f.write(filepath.Join(f.dir, "a.test"+zoneSuffix), "$TTL 60\n")
	release := make(chan struct{})
	f.serve(func(s *Settings) {
		s.RNDC = failing(t, f.control, func(int64) bool {
			select {
			case <-release:
				return false
			default:
				return true
			}
		})
	})
	if _, text := f.call("GET", "/api/v1/zones", ""); text != `{"zones":["a.test"],"count":1}` {
		t.Errorf("before BIND has answered, the list is %s", text)
	}
	close(release)
	until(t, "finding that BIND does not have the zone", func() bool {
		_, text := f.call("GET", "/api/v1/zones", "")
		return text == `{"zones":[],"count":0}`
	})
}
