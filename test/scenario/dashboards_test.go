package scenario

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// scraped has Prometheus scrape the operator of a test.
func (s *scene) scraped() *testoperator.Prometheus {
	s.t.Helper()
	p, err := testoperator.StartPrometheus(s.t.TempDir(), s.t.Output(), s.op)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(p.Stop)
	return p
}

// dashboardsShow requires that a Prometheus has something to show in every panel of those dashboards that are about
// what has happened in the test.
func (s *scene) dashboardsShow(p *testoperator.Prometheus) {
	s.t.Helper()
	for _, dashboard := range []string{"overview", "way", "server"} {
		s.step("Grafana shows "+dashboard, func() {
			text, err := os.ReadFile("../../config/dashboards/zonefold-" + dashboard + ".json")
			if err != nil {
				s.t.Fatal(err)
			}
			var page struct {
				Panels []struct {
					Title   string
					Targets []struct{ Expr string }
				}
			}
			if err := json.Unmarshal(text, &page); err != nil {
				s.t.Fatal(err)
			}
			asked := 0
			for _, panel := range page.Panels {
				for _, target := range panel.Targets {
					asked++
					expr := strings.NewReplacer("$__rate_interval", "5m", "$backend", ".*").Replace(target.Expr)
					s.eventually(panel.Title, func() string { return s.nothing(p, expr) })
				}
			}
			if asked < 10 {
				s.t.Errorf("it asks %d queries", asked)
			}
		})
	}
}

// nothing says that a query has no answer that is a number.
func (s *scene) nothing(p *testoperator.Prometheus, expr string) string {
	samples, err := p.Query(s.ctx, expr)
	if err != nil {
		return err.Error()
	}
	if !slices.ContainsFunc(samples, func(v testoperator.Sample) bool { return !math.IsNaN(v.Value) }) {
		return fmt.Sprintf("%s has the answer %v", expr, samples)
	}
	return ""
}
