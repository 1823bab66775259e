package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/zonefold/zonefold/test/sim"
)

// A leased operator has such a Lease.
type leased sim.Lease

// leaseOf is that of a life's operators. Renewals were half of what a life cost: a Lease is renewed as seldom as the
// life allows. It lasts where nobody takes over. Where the life does not say otherwise, another operator leads after a
// crash or a pause within the minute that lives wait: client-go tries again after at most 2.2 times the third number,
// and so takes over within 52 s if it has tried just before the Lease was over.
func leaseOf(l sim.Life) leased {
	switch {
	case l.Alone():
		return leased{30 * time.Minute, 20 * time.Minute, 10 * time.Minute}
	case l.Lease != sim.Lease{}:
		return leased(l.Lease)
	}
	return leased{24 * time.Second, 16 * time.Second, 12 * time.Second}
}

// live runs operators as this program does.
func (l leased) live(ctx context.Context, p sim.Process) error {
	dns := "0"
	if p.DNS.IsValid() {
		dns = p.DNS.String()
	}
	o, err := parse([]string{
		"--dialects=" + strings.Join(p.Dialects, ","), "--source=" + strings.Join(p.Sources, ","),
		"--health-probe-bind-address=0", "--metrics-bind-address=0",
		"--admission-bind-address=:9443", "--dns-bind-address=" + dns,
		fmt.Sprintf("--leader-elect-lease-duration=%v", l[0]), fmt.Sprintf("--leader-elect-renew-deadline=%v", l[1]),
		fmt.Sprintf("--leader-elect-retry-period=%v", l[2]), fmt.Sprintf("--max-status-entries=%d", p.Entries),
	}, func(string) string { return "" })
	if err != nil {
		return err
	}
	scheme, err := schemes()
	if err != nil {
		return err
	}
	return operate(ctx, p.Config, o, process{
		log: p.Log, registry: prometheus.NewRegistry(), connect: p.Connect, open: p.Open, hooked: p.Webhooks,
		services: p.Services, streams: streams{p.Listen, p.Dial}, admit: p.Admit, pods: p.Pods, scheme: scheme,
		chance: p.Chance,
	})
}

// schemes makes the one that all operators of lives have: nobody adds to it.
var schemes = sync.OnceValues(newScheme)

// definitions makes the kinds that all API servers of lives have: they take a second to compile.
var definitions = sync.OnceValues(func() (*sim.Kinds, error) {
	return sim.NewKinds(os.DirFS(filepath.Join("..", "..", "config", "crd")))
})

func kindsOf(t *testing.T) *sim.Kinds {
	t.Helper()
	kinds, err := definitions()
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

func lifeOf(t *testing.T, file string) sim.Life {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := sim.ParseLife(text)
	if err != nil {
		t.Fatal(err)
	}
	l.Rights, l.Reviews = rightsOf(t, l.Roles()...), reviewsOf(t)
	return l
}

// reviewsOf returns what the chart has operators be asked about.
func reviewsOf(t *testing.T) *sim.Reviews {
	t.Helper()
	root := filepath.Join("..", "..")
	rendered, err := os.ReadFile(filepath.Join(root, "config", "install", "zonefold.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	templates, err := os.ReadFile(filepath.Join(root, "charts", "zonefold", "templates", "_names.tpl"))
	if err != nil {
		t.Fatal(err)
	}
	reviews, err := sim.NewReviews(string(rendered), string(templates))
	if err != nil {
		t.Fatal(err)
	}
	return reviews
}

// rightsOf returns what the chart lets an operator do of which some parts are on.
func rightsOf(t *testing.T, parts ...string) *sim.Rights {
	t.Helper()
	roles := []string{"controller.yaml", "backends.yaml"}
	for _, part := range parts {
		roles = append(roles, part+".yaml")
	}
	rights, err := sim.NewRights(os.DirFS(filepath.Join("..", "..", "config", "rbac")), roles...)
	if err != nil {
		t.Fatal(err)
	}
	return rights
}

func lived(t *testing.T, l sim.Life, kinds *sim.Kinds) sim.Outcome {
	t.Helper()
	out, err := outcome(t, l, kinds)
	if err != nil {
		t.Error(err)
	}
	return out
}

// outcome lives a life with the operators of this program.
func outcome(t *testing.T, l sim.Life, kinds *sim.Kinds) (sim.Outcome, error) {
	t.Helper()
	return bubble(t, l, kinds, leaseOf(l).live)
}

// bubble lives a life in virtual time. It ends this program when the life takes too long: while somebody goes on and on
// without a pause, its clock stands, and no deadline passes in it.
func bubble(t *testing.T, l sim.Life, kinds *sim.Kinds, run sim.Run) (out sim.Outcome, err error) {
	t.Helper()
	over := make(chan struct{})
	defer close(over)
	go endless(t, l, over)
	synctest.Test(t, func(t *testing.T) { out, err = l.Live(t.Context(), kinds, run) })
	return out, err
}

// mostSeconds is how much of the processors this process may need while a life is lived, with those that are lived
// beside it. Real time does not count: others may need the processors for as long.
const mostSeconds = 600

// endless ends this program when a life needs more than mostSeconds.
func endless(t *testing.T, l sim.Life, over chan struct{}) {
	began, look := seconds(t), time.NewTicker(10*time.Second)
	defer look.Stop()
	for {
		select {
		case <-over:
			return
		case <-look.C:
			if seconds(t)-began > mostSeconds {
				panic(fmt.Sprintf("%s: a life does not end:\n%s", t.Name(), l.Format()))
			}
		}
	}
}

// TestEveryEffectOfALifeInterrupted has a life end as it does without a fault, whatever its operator crashes at or is
// paused at.
func TestEveryEffectOfALifeInterrupted(t *testing.T) {
	kinds := kindsOf(t)
	for _, c := range []struct {
		file  string
		every int // how many effects are between those that meet a fault of a kind: each kind has its own
	}{
		{"kubizone.txtar", 1}, {"moves.txtar", 1}, {"homelab.txtar", 1}, {"gardener.txtar", 1},
		{"embedded.txtar", asked(t, "EVERY", 6)}, {"updates.txtar", asked(t, "EVERY", 3)},
		{"sources.txtar", 1},
		{"all.txtar", asked(t, "EVERY", 6)}, {"bindy.txtar", asked(t, "EVERY", 18)},
	} {
		l := lifeOf(t, filepath.Join("..", "..", "test", "sim", "testdata", c.file))
		calm := lived(t, l, kinds)
		for _, wrong := range calm.Wrong {
			t.Errorf("%s: %s", l.Name, wrong)
		}
		for i, kind := range []sim.Kind{sim.CrashBefore, sim.CrashAfter, sim.Pause} {
			for at := 1 + i*c.every/3; at <= len(calm.Effects); at += c.every {
				if c.every == 1 && kind == sim.CrashBefore && calm.Follows[at-1] {
					continue // a crash after the one before leaves the same
				}
				l := l
				l.Fault = sim.Fault{Kind: kind, At: at}
				t.Run(c.file+"/"+l.Fault.String(), func(t *testing.T) {
					t.Parallel()
					out := lived(t, l, kinds)
					if diff := cmp.Diff(calm.State, out.State); diff != "" || len(out.Wrong) > 0 {
						what := "an effect that there was not"
						if at <= len(out.Effects) {
							what = out.Effects[at-1]
						}
						t.Errorf("%s (%s):\n%s\n%s", l.Fault, what, strings.Join(out.Wrong, "\n"), diff)
					}
				})
			}
		}
	}
}

// TestALifeOfDNSRecords ends with all of them as they are wanted.
func TestALifeOfDNSRecords(t *testing.T) {
	out := lived(t, lifeOf(t, filepath.Join("..", "..", "test", "sim", "testdata", "homelab.txtar")), kindsOf(t))
	for _, wrong := range out.Wrong {
		t.Error(wrong)
	}
	for _, want := range []string{
		" A www.example.org 300 192.0.2.5\n", " MX example.org 300 mail.example.org 10\n", " TXT t.example.org 300 hello\n",
		" AAAA late.example.org 300 2001:db8::1\n",
		"webhook two.example\n",
	} {
		if !strings.Contains(out.State, want) {
			t.Errorf("%q is missing in\n%s", want, out.State)
		}
	}
	for _, gone := range []string{"192.0.2.22", "mail2"} {
		if strings.Contains(out.State, gone) {
			t.Errorf("%s is left in\n%s", gone, out.State)
		}
	}
}

// TestALifeOfUpdates ends with what was answered, and with names for its addresses.
func TestALifeOfUpdates(t *testing.T) {
	out := lived(t, lifeOf(t, filepath.Join("..", "..", "test", "sim", "testdata", "updates.txtar")), kindsOf(t))
	for _, wrong := range out.Wrong {
		t.Error(wrong)
	}
	for _, want := range []string{
		"  h.dyn.example.org. A 300 192.0.2.11\n", "  11.2.0.192.in-addr.arpa. PTR 300 h.dyn.example.org.\n",
	} {
		if !strings.Contains(out.State, want) {
			t.Errorf("%q is missing in\n%s", want, out.State)
		}
	}
	for _, gone := range []string{"TXT", "192.0.2.12", "192.0.2.13", "13.2.0.192", "10.2.0.192"} {
		if strings.Contains(out.State, gone) {
			t.Errorf("%s is left in\n%s", gone, out.State)
		}
	}
}

// TestALifeWithoutARight tells which one is missing.
func TestALifeWithoutARight(t *testing.T) {
	l := lifeOf(t, filepath.Join("..", "..", "test", "sim", "testdata", "kubizone.txtar"))
	kinds, rights := kindsOf(t), l.Rights
	for _, resource := range []string{"records/status", "zones/status", "backends/status"} {
		l.Rights = rights.Without(resource)
		out := lived(t, l, kinds)
		if !slices.ContainsFunc(out.Wrong, func(s string) bool { return strings.Contains(s, " "+resource+" ") }) {
			t.Errorf("nobody hears that operators may not write %s, but %q", resource, out.Wrong)
		}
	}
}

// TestShortLives goes well each time: what goes wrong in one of them may be how two things meet that are ready in the
// same moment. One with a fault ends as without, as random lives do, of which it may be what was left.
func TestShortLives(t *testing.T) {
	kinds := kindsOf(t)
	files, err := filepath.Glob(filepath.Join("..", "..", "test", "sim", "testdata", "short", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d lives, %v", len(files), err)
	}
	for _, file := range files {
		l := lifeOf(t, file)
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			times := 8
			if slices.Contains(l.Dialects(), "bindy") { // one of a fleet costs as much as ten others
				times = 3
			}
			var calm sim.Outcome
			if l.Fault.Kind != sim.None {
				calm = lived(t, l.Calm(), kinds)
			}
			own := l.Seed
			for i := range times {
				if l.Unsucceeded = i > 0; own == 0 || i%2 == 1 {
					l.Seed = uint64(i) // messages take otherwise long
				} else {
					l.Seed = own // which two things meet may be told by it
				}
				out := lived(t, l, kinds)
				if len(out.Wrong) > 0 {
					t.Fatalf("%s\n%s", l.Name, strings.Join(out.Wrong, "\n"))
				}
				if diff := cmp.Diff(calm.End(), out.End()); diff != "" && l.Fault.Kind != sim.None {
					t.Fatalf("%s\nIt ends otherwise than without its fault:\n%s", l.Name, diff)
				}
			}
		})
	}
}
