package bindcar

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/bind9"
)

// ready asks whether the server is ready, and for the last of its checks.
func (f *fixture) ready() (bool, string) {
	f.t.Helper()
	status, text := f.send("GET", "/api/v1/ready", "")
	return status == http.StatusOK, text
}

// TestReadyByContent has a pod that waits for what it is told, and tells the truth over restarts of all parts.
func TestReadyByContent(t *testing.T) {
	require := func(s *Settings) { s.RequireContent = true }
	f := newFixture(t, require)
	wantReady := func(when string, ready bool, check string) {
		t.Helper()
		if got, text := f.ready(); got != ready || !strings.Contains(text, check) {
			t.Errorf("%s: %t %s, not %t %s", when, got, text, ready, check)
		}
	}
	wantReady("before anybody has said", false, `"content: not declared"`)
	f.call("POST", "/api/v1/zones", createBody("a.test", ""))
	wantReady("a zone is not a declaration", false, `"content: not declared"`)
	f.call("PUT", "/api/v1/server/content", `{"zones":["a.test","b.test"]}`)
	wantReady("with one of two zones", false, `"zones: 1 of 2 not loaded"`)
	f.serve(require)
	wantReady("after a restart of bindcar", false, `"zones: 1 of 2 not loaded"`)
	f.call("POST", "/api/v1/zones", createBody("b.test", ""))
	wantReady("with both", true, `"zones: ok"`)
	f.call("POST", "/api/v1/zones", createBody("c.test", ""))
	f.want("GET", "/api/v1/server/content", "", 200, `{"declared":true,"zones":["a.test","b.test","c.test"]}`)
	f.call("DELETE", "/api/v1/zones/a.test", "")
	f.serve(require)
	f.want("GET", "/api/v1/server/content", "", 200, `{"declared":true,"zones":["b.test","c.test"]}`)
	wantReady("with what is left", true, `"zones: ok"`)

	if err := f.Stop(); err != nil {
		t.Fatal(err)
	}
	until(t, "not being ready without BIND", func() bool { ready, _ := f.ready(); return !ready })
	f.write(filepath.Join(f.dir, "b.test.zone"), "broken") // named finds it so when it starts
	f.startNamed()
	f.call("PUT", "/api/v1/server/content", `{"zones":["b.test","c.test"]}`)
	until(t, "seeing that BIND started anew", func() bool {
		_, text := f.ready()
		return strings.Contains(text, "1 of 2 not loaded")
	})
	f.want("GET", "/api/v1/zones/b.test/status", "", 200,
		`{"success":true,"message":"Zone b.test status retrieved","details":"name: b.test\ntype: primary\nstate: not loaded"}`)
	f.call("PUT", "/api/v1/server/content", `{"zones":[]}`)
	wantReady("when nothing is wanted", true, `"zones: ok"`)
}

// TestReadyForOnePodAndStart has a volume that comes back: with the pod that was told what it is to have, and with
// another one.
func TestReadyForOnePodAndStart(t *testing.T) {
	of := func(pod string, wait time.Duration) func(*Settings) {
		return func(s *Settings) { s.RequireContent, s.Pod, s.ConfirmWithin = true, pod, wait }
	}
	f := newFixture(t, of("one", time.Hour))
	wantReady := func(when string, ready bool, check string) {
		t.Helper()
		f.server.loaded.stale()
		if got, text := f.ready(); got != ready || !strings.Contains(text, check) {
			t.Errorf("%s: %t %s, not %t %s", when, got, text, ready, check)
		}
	}
	f.call("POST", "/api/v1/zones", createBody("a.test", ""))
	f.call("PUT", "/api/v1/server/content", `{"zones":["a.test"]}`)
	wantReady("when it was declared", true, `"zones: ok"`)

	began := time.Now()
	until(t, "another second, by which BIND tells its starts apart", func() bool {
		return time.Since(began) > time.Second
	})
	if err := f.Stop(); err != nil {
		t.Fatal(err)
	}
	f.startNamed()
	wantReady("when BIND has started again", false, `"content: not declared since BIND started"`)
	f.want("GET", "/api/v1/server/content", "", 200, `{"declared":false,"zones":["a.test"]}`)
	f.serve(of("one", time.Hour))
	wantReady("and the sidecar too", false, `"content: not declared since BIND started"`)
	f.serve(of("one", time.Nanosecond))
	until(t, "being ready when nobody says anything", func() bool {
		f.server.loaded.stale()
		ready, _ := f.ready()
		return ready
	})
	f.serve(of("one", time.Hour))
	f.call("PUT", "/api/v1/server/content", `{"zones":["a.test"]}`)
	f.want("GET", "/api/v1/server/content", "", 200, `{"declared":true,"zones":["a.test"]}`)
	wantReady("when it was declared again", true, `"zones: ok"`)

	f.serve(of("two", time.Nanosecond))
	wantReady("in another pod", false, `"content: not declared"`)
	f.want("GET", "/api/v1/server/content", "", 200, `{"declared":false,"zones":[]}`)
	f.call("PUT", "/api/v1/server/content", `{"zones":[]}`)
	wantReady("when it was declared for that one", true, `"zones: ok"`)
	f.serve(of("two", time.Hour))
	wantReady("and its sidecar has started again", true, `"zones: ok"`)
}

// TestReadyWhereQueriesAreRefused has a BIND that does not answer us.
func TestReadyWhereQueriesAreRefused(t *testing.T) {
	f := newFixture(t, nil)
	f.configure(bind9.Options{AllowQuery: []string{"192.0.2.1"}})
	reconfig, err := bind9.ServerCommand("reconfig")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.server.control.do(t.Context(), reconfig, nil); err != nil {
		t.Fatal(err)
	}
	f.call("POST", "/api/v1/zones", createBody("a.test", ""))
	if got := f.ask("a.test.", "SOA"); got != "REFUSED" {
		t.Fatalf("BIND answers %s", got)
	}
	if ready, text := f.ready(); !ready {
		t.Errorf("it is not ready: %s", text)
	}
}

// TestReadyIsCheapWithManyZones counts the commands of probes.
func TestReadyIsCheapWithManyZones(t *testing.T) {
	f := newFixture(t, nil)
	const zones = 1000
	names := make([]string, zones)
	for i := range names {
		names[i] = fmt.Sprintf("z%d.test", i)
		if status, text := f.call("POST", "/api/v1/zones", createBody(names[i], "")); status != 201 {
			t.Fatal(status, text)
		}
	}
	until(t, "being ready", func() bool { ready, _ := f.ready(); return ready })
	commands := func() (n int) {
		_, text := f.send("GET", "/metrics", "")
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "bindcar_rndc_commands_total") {
				var value int
				_, _ = fmt.Sscan(line[strings.LastIndexByte(line, ' '):], &value)
				n += value
			}
		}
		return n
	}
	f.server.loaded.stale()
	before := commands()
	if ready, text := f.ready(); !ready {
		t.Fatal(text)
	}
	if got := commands() - before; got != 1 {
		t.Errorf("a probe of %d zones gives %d commands", zones, got)
	}
	if err := f.Stop(); err != nil {
		t.Fatal(err)
	}
	f.startNamed()
	began := time.Now()
	before = commands()
	until(t, "being ready again", func() bool { f.server.loaded.stale(); ready, _ := f.ready(); return ready })
	if got := commands() - before; got > 20 {
		t.Errorf("after a restart, looking at %d zones took %d commands", zones, got)
	}
	t.Logf("ready %s after named answers", time.Since(began).Round(time.Millisecond))
}
