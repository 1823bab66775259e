package bindcar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/bind9"
)

const (
	// what is not asked in time is asked by the next probe, whose timeoutSeconds has to be above this
	probeFor   = 2 * time.Second
	probeOne   = 300 * time.Millisecond
	probers    = 16
	writeEvery = 30 * time.Second
	freshFor   = 300 * time.Millisecond // how long one look answers for others
	namedShown = 3                      // zones that the log names
)

// ReadyPath is where the probe of a pod asks. The existing bindcar is ready at /api/v1/ready as soon as it runs,
// whatever zones there are, and does not know this path: a pod with its image, under whatever name, is never ready.
const ReadyPath = "/api/v1/server/ready"

// loaded remembers which zones BIND has been seen to answer for. A zone that was loaded stays so until BIND starts
// anew, so a probe of a server with ten thousand zones asks for its status and nothing else.
type loaded struct {
	b *bind

	looking sync.Mutex // held over a look
	wrote   time.Time  // when the zone directory was written last; of looking
	told    string     // the zones that the log had last; of looking

	mu   sync.Mutex
	boot string    // when BIND started, in its words
	seen time.Time // when it was first seen to have
	ok   map[string]bool
	last Readiness
	at   time.Time
}

func newLoaded(b *bind) *loaded { return &loaded{b: b, ok: map[string]bool{}} }

// forget has a zone asked about again.
func (l *loaded) forget(zone string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ok, zone)
	l.at = time.Time{}
}

// stale has the next caller look again.
func (l *loaded) stale() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = time.Time{}
}

// restarted forgets everything when BIND has started since the last look, and returns for how long it has been seen to
// run.
func (l *loaded) restarted(boot string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.b.now()
	if boot != l.boot {
		l.boot, l.seen, l.ok = boot, now, map[string]bool{}
	}
	return now.Sub(l.seen)
}

// ready is 200 when BIND serves all that it shall, and 503 until then, and when the server is being ended. Callers need
// not say who they are, so no look begins while another is under way.
func (s *Server) ready(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	if s.leaving.Load() {
		return http.StatusServiceUnavailable, Readiness{Checks: []string{"server: is being ended"}}, nil
	}
	answer := s.loaded.look(r.Context())
	if answer.Ready {
		return http.StatusOK, answer, nil
	}
	return http.StatusServiceUnavailable, answer, nil
}

func (l *loaded) look(ctx context.Context) Readiness {
	l.looking.Lock()
	defer l.looking.Unlock()
	now := l.b.now()
	l.mu.Lock()
	last, at := l.last, l.at
	l.mu.Unlock()
	if !at.IsZero() && now.Sub(at) < freshFor {
		return last
	}
	ctx, cancel := context.WithTimeout(ctx, probeFor)
	defer cancel()
	l.mu.Lock()
	l.at = now // whoever changes something meanwhile sets it back
	l.mu.Unlock()
	fresh := l.b.checks(ctx)
	l.mu.Lock()
	l.last = fresh
	l.mu.Unlock()
	return fresh
}

// checks looks at all that has to be in order.
func (b *bind) checks(ctx context.Context) Readiness {
	r := Readiness{Ready: true}
	check := func(name string, err error) {
		if err != nil {
			r.Ready = false
			r.Checks = append(r.Checks, name+": "+err.Error())
			return
		}
		r.Checks = append(r.Checks, name+": ok")
	}
	directory := b.loaded.writable()
	if directory != nil {
		b.log.Warn("the zone directory cannot be written", "err", directory)
		directory = errors.New("not writable")
	}
	check("zone_dir", directory)
	text, err := b.control.server(ctx, "status")
	switch {
	case errors.Is(err, bind9.ErrUnauthorized):
		err = errors.New("no key is accepted")
	case err != nil:
		err = errors.New("unavailable")
	}
	check("rndc", err)
	if err != nil {
		b.loaded.restarted("")
		return r
	}
	boot := statusLine(text, "boot time")
	runs := b.loaded.restarted(boot)
	zones, declared := b.content.get()
	switch {
	case b.settings.RequireContent && !declared:
		check("content", errors.New("not declared"))
		return r
	case b.settings.RequireContent && !b.content.confirmed(boot) &&
		runs < cmp.Or(b.settings.ConfirmWithin, defaultConfirm):
		check("content", errors.New("not declared since BIND started"))
		return r
	}
	if !declared {
		zones = b.store.zones()
	}
	check("content", nil)
	check("zones", b.loaded.missing(ctx, zones))
	return r
}

// writable tries the zone directory, after it could be written now and then only.
func (l *loaded) writable() error {
	if now := l.b.now(); l.wrote.IsZero() || now.Sub(l.wrote) >= writeEvery {
		if err := l.b.store.writable(); err != nil {
			return err
		}
		l.wrote = now
	}
	return nil
}

// unseen are those of the zones that have not been seen loaded.
func (l *loaded) unseen(zones []string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string // mostly none, of thousands
	for _, zone := range zones {
		if !l.ok[zone] {
			out = append(out, zone)
		}
	}
	return out
}

// missing asks about the zones that have not been seen loaded, and says which are not.
func (l *loaded) missing(ctx context.Context, zones []string) error {
	ask := l.unseen(zones)
	l.ask(ctx, ask)
	not := l.unseen(ask)
	if len(not) == 0 {
		l.told = ""
		return nil
	}
	count := fmt.Sprintf("%d of %d not loaded", len(not), len(zones))
	if names := strings.Join(not[:min(len(not), namedShown)], ", "); names != l.told {
		l.told = names // for the log, as those who ask need not say who they are
		l.b.log.Info("zones are not loaded", "count", len(not), "first", names)
	}
	return errors.New(count)
}

func (l *loaded) ask(ctx context.Context, zones []string) {
	next := make(chan string)
	var all sync.WaitGroup
	for range min(probers, len(zones)) {
		all.Go(func() {
			for name := range next {
				if l.b.isLoaded(ctx, name) {
					l.mu.Lock()
					l.ok[name] = true
					l.mu.Unlock()
				}
			}
		})
	}
	for _, zone := range zones {
		if ctx.Err() != nil {
			break
		}
		next <- zone
	}
	close(next)
	all.Wait()
}
