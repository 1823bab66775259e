package engine_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// tellsInto has an engine note which sets it is told of that somebody else has written.
func tellsInto(told *[]string) func(*engine.Config) {
	return func(config *engine.Config) {
		config.OnDrift = func(x engine.Drift) {
			for _, k := range x.Sets {
				*told = append(*told, k.String())
			}
		}
	}
}

func TestWhatSomebodyElseWritesIsTold(t *testing.T) {
	for _, c := range []struct {
		name   string
		keep   bool
		notice func(*bench, *engine.Feed, *backendtest.Memory)
		want   string
	}{
		{"an audit finds it", false, func(b *bench, _ *engine.Feed, _ *backendtest.Memory) {
			b.engine.Audit(target("0", zoneName))
		}, "foreign.example.org. A, www.example.org. A"},
		{"the next change finds it", false, func(_ *bench, f *engine.Feed, _ *backendtest.Memory) {
			f.Publish(version(2), wwwKey)
		}, "foreign.example.org. A, www.example.org. A"},
		{"a change that the server does not get at first finds it", false,
			func(b *bench, f *engine.Feed, m *backendtest.Memory) {
				m.SetDown(true)
				f.Publish(version(2), wwwKey)
				b.pass(time.Minute)
				m.SetDown(false)
			}, "foreign.example.org. A"}, // of www nobody knows who wrote it
		{"an audit that the server does not answer at first finds it", false,
			func(b *bench, _ *engine.Feed, m *backendtest.Memory) {
				m.SetDown(true)
				b.engine.Audit(target("0", zoneName))
				b.pass(time.Minute)
				m.SetDown(false)
			}, "foreign.example.org. A, www.example.org. A"},
		{"foreign sets stay", true, func(_ *bench, f *engine.Feed, _ *backendtest.Memory) {
			f.Publish(version(2), wwwKey)
		}, ""},
		{"nobody wrote", false, func(b *bench, _ *engine.Feed, _ *backendtest.Memory) {}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := serverWith(bindLike, zoneName)
				var told []string
				b := newBench(t, tellsInto(&told))
				f := b.feed(zoneName)
				f.Publish(version(1), nil)
				b.engine.Attach(target("0", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: s, Keep: c.keep})
				b.pass(time.Minute)
				m.Foreign(mustParse(zoneName), []rr.Set{set("foreign.example.org.", rr.TypeA, 300, "203.0.113.1"),
					set("www.example.org.", rr.TypeA, 300, "203.0.113.2")}, nil)
				c.notice(b, f, m)
				b.pass(time.Minute)
				b.stop()
				slices.Sort(told)
				if got := strings.Join(told, ", "); got != c.want {
					t.Errorf("told of %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestWhatSomebodyElseWritesBeforeAChangeIsReadBackIsTold has the server give its change a serial: who follows it may
// have that, and what the other servers have under the same serial is something else.
func TestWhatSomebodyElseWritesBeforeAChangeIsReadBackIsTold(t *testing.T) {
	for _, c := range []struct {
		name    string
		foreign []rr.Set
		err     error // of the first reading
		want    string
	}{
		{"another set", []rr.Set{set("foreign.example.org.", rr.TypeA, 300, "203.0.113.1")}, nil, "foreign.example.org. A"},
		{"the set that was changed", []rr.Set{set("www.example.org.", rr.TypeA, 300, "203.0.113.2")}, nil,
			"www.example.org. A"},
		{"another set, and the server does not answer at first",
			[]rr.Set{set("foreign.example.org.", rr.TypeA, 300, "203.0.113.1")},
			backend.ErrUnavailable, "foreign.example.org. A"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := serverWith(bindLike, zoneName)
				var told []string
				b := newBench(t, tellsInto(&told))
				f := b.feed(zoneName)
				f.Publish(version(1), nil)
				d := &deaf{Backend: s}
				b.engine.Attach(target("0", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: d, Audit: -1})
				b.pass(time.Minute)
				d.read = func() error {
					d.read = nil
					m.Foreign(mustParse(zoneName), c.foreign, nil)
					return c.err
				}
				f.Publish(version(2), wwwKey)
				b.pass(10 * time.Minute)
				b.stop()
				if got := strings.Join(told, ", "); got != c.want {
					t.Errorf("told of %q, want %q", got, c.want)
				}
				_, sets, _ := m.Truth(mustParse(zoneName))
				if diff := plan.Diff(sets, version(2).Sets, plan.Scope{Apex: mustParse(zoneName)}); len(diff.Changes) > 0 {
					t.Errorf("of the server is to be changed %v", diff.Changes)
				}
			})
		})
	}
}
