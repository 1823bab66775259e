package bindcar

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
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

// TestAServerThatIsEndedSaysSoBeforeItGoes has everybody hear of it while it still answers.
func TestAServerThatIsEndedSaysSoBeforeItGoes(t *testing.T) {
	f := newFixture(t, func(s *Settings) { s.LeaveFor = 2 * time.Second })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.url = "http://" + l.Addr().String()
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.server.Serve(ctx, l) }()
	if ready, text := f.ready(); !ready {
		t.Fatalf("it is not ready: %s", text)
	}
	end()
	until(t, "saying that it is not ready", func() bool { ready, _ := f.ready(); return !ready })
	if status, text := f.call("GET", "/api/v1/zones", ""); status != http.StatusOK {
		t.Errorf("it answers %d %s while it is being ended", status, text)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it is still there")
	}
}

// TestContentOverACrash has a file whose last line was cut off, by a crash or a full disk.
func TestContentOverACrash(t *testing.T) {
	for _, tt := range []struct{ name, file, then, want string }{
		{"while a zone was added", "declared\n= a.test\n+ b.te", "", "a.test"},
		{"while a zone was removed", "declared\n= a.test\n= a.test.example\n- a.test", "", "a.test a.test.example"},
		{"and then a zone is added", "declared\n= a.test\n+ b.te", "+c.test", "a.test c.test"},
		{"and then the same zone is added", "declared\n= a.test\n+ b.test", "+b.test", "a.test b.test"},
		{"and then a zone is removed", "declared\n= a.test\n= b.test\n+ c", "-a.test", "b.test"},
		{"before the mark of a zone", "declared\n= a.test\n+", "+b.test", "a.test b.test"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, contentFile), []byte(tt.file), fileMode); err != nil {
			t.Fatal(err)
		}
		c := reopened(t, dir)
		if zone, ok := strings.CutPrefix(tt.then, "+"); ok {
			wrote(t, c.add(zone))
		} else if zone, ok := strings.CutPrefix(tt.then, "-"); ok {
			wrote(t, c.remove(zone))
		}
		for _, c := range []*content{c, reopened(t, dir)} {
			if zones, declared := c.get(); !declared || strings.Join(zones, " ") != tt.want {
				t.Errorf("%s: %v, %v; want %s", tt.name, zones, declared, tt.want)
			}
		}
	}
}

func TestContentAfterAWriteThatFailed(t *testing.T) {
	dir := t.TempDir()
	c := reopened(t, dir)
	wrote(t, c.set([]string{"a.test"}, ""))
	if err := os.Rename(c.path, c.path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := c.add("b.test"); err == nil {
		t.Fatal("a change was noted in a file that is not there")
	}
	text, err := os.ReadFile(c.path + ".away")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.path, append(text, "+ b.te"...), fileMode); err != nil { // what a full disk leaves
		t.Fatal(err)
	}
	wrote(t, c.add("c.test"))
	for _, c := range []*content{c, reopened(t, dir)} {
		if zones, _ := c.get(); strings.Join(zones, " ") != "a.test c.test" {
			t.Errorf("%v", zones)
		}
	}
}

func reopened(t *testing.T, dir string) *content {
	t.Helper()
	c, err := openContent(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wrote(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
