package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/test/sim"
)

// TestALifeWithAnAPIServerInTrouble has a life end as it does with an API server that is well, and without writing all
// the time.
func TestALifeWithAnAPIServerInTrouble(t *testing.T) {
	kinds := kindsOf(t)
	l := lifeOf(t, filepath.Join("..", "..", "test", "sim", "testdata", "kubizone.txtar"))
	calm := lived(t, l, kinds)
	begin := slices.IndexFunc(l.Steps, func(s sim.Step) bool { return s.Text == "begin" })
	for _, trouble := range []string{
		"late zones 1s", "late zones 60s", "late zones 10m", "late records 60s", "late zoneslices 60s", "late backends 60s",
		"failing 409 after 30s", "failing 409 before 30s", "failing 429 before 30s", "failing 500 after 30s",
		"failing timeout after 5s", "failing 403 before status 30s",
		"gone 5s", "gone 3m",
	} {
		t.Run(trouble, func(t *testing.T) {
			t.Parallel()
			l := l
			l.Steps = slices.Insert(slices.Clone(l.Steps), begin+2, sim.Step{Text: trouble})
			out := lived(t, l, kinds)
			if diff := cmp.Diff(calm.State, out.State); diff != "" || len(out.Wrong) > 0 {
				t.Errorf("%s\n%s", strings.Join(out.Wrong, "\n"), diff)
			}
			if n := len(out.Effects); n > 10*len(calm.Effects) {
				t.Errorf("there were %d effects, %d without it", n, len(calm.Effects))
			}
		})
	}
}
