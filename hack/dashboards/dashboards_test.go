package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime" // the operator has it: it registers metrics of the process
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/homelab"
)

const folder = "../../config/dashboards"

func TestTheCommittedDashboardsAreTheseOnes(t *testing.T) {
	committed, err := filepath.Glob(folder + "/*.json")
	if err != nil || len(committed) != len(dashboards()) {
		t.Fatalf("there are %q, %v", committed, err)
	}
	for _, d := range dashboards() {
		want, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(folder, d.UID+".json")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not as it is defined; make generate writes it: %v", d.UID, err)
		}
	}
}

// TestPrometheusReadsEveryQuery has Prometheus' own tool read them all, as rules.
func TestPrometheusReadsEveryQuery(t *testing.T) {
	rules := "groups: [{name: all, rules: [\n"
	n := 0
	for _, l := range lines(t) {
		n++
		rules += fmt.Sprintf("  {record: q%d, expr: %q},\n", n, plain(l.Expr))
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(rules+"]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "promtool", "check", "rules", file).CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("%d rules found", n)) {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// lines returns the lines of all panels.
func lines(t *testing.T) (all []Line) {
	t.Helper()
	for _, d := range dashboards() {
		for _, r := range d.Rows {
			for _, p := range r.Panels {
				if p.Title == "" || !strings.HasSuffix(p.About, ".") || len(p.Lines) == 0 {
					t.Errorf("%s: the panel %q says of itself %q and shows %d lines", d.UID, p.Title, p.About, len(p.Lines))
				}
				all = append(all, p.Lines...)
			}
		}
	}
	if len(all) < 50 {
		t.Fatalf("there are %d queries", len(all))
	}
	return all
}

// plain puts values in the place of Grafana's variables.
func plain(expr string) string {
	return regexp.MustCompile(`\$[a-z]+`).ReplaceAllString(strings.ReplaceAll(expr, "$__rate_interval", "5m"), ".*")
}

var (
	described = regexp.MustCompile(`fqName: "([^"]*)".*variableLabels: \{([^}]*)\}`)
	selector  = regexp.MustCompile(`\{[^}]*\}`)
	matcher   = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
	grouping  = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
	metric    = regexp.MustCompile(`\b([a-z]+(?:_[a-z]+)+)\b(\(?)(\{[^}]*\})?`)
	suffix    = regexp.MustCompile(`_(bucket|count|sum)$`)
)

// registered returns the labels of all metrics that an operator registers, by their names.
func registered(t *testing.T) map[string][]string {
	t.Helper()
	own := prometheus.NewRegistry()
	for _, m := range []interface {
		Register(prometheus.Registerer) error
	}{controller.NewMetrics(), controller.NewDNSMetrics(), homelab.NewNumbers()} {
		if err := m.Register(own); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string][]string{}
	for _, r := range []any{own, metrics.Registry} {
		descriptions := make(chan *prometheus.Desc)
		go func() {
			r.(prometheus.Collector).Describe(descriptions)
			close(descriptions)
		}()
		for d := range descriptions {
			if found := described.FindStringSubmatch(d.String()); found != nil {
				all[found[1]] = strings.Split(found[2], ",")
			}
		}
	}
	return all
}

// TestQueriesAskForWhatThereIs: every metric and every label of a query is one that an operator registers.
func TestQueriesAskForWhatThereIs(t *testing.T) {
	known := registered(t)
	for _, l := range lines(t) {
		expr := plain(l.Expr)
		asked := 0
		for _, m := range metric.FindAllStringSubmatch(grouping.ReplaceAllString(expr, ""), -1) {
			if m[2] == "(" {
				continue // a function
			}
			asked++
			name := m[1]
			labels, ok := known[name]
			if !ok {
				name = suffix.ReplaceAllString(name, "")
				if labels, ok = known[name]; !ok {
					t.Errorf("nobody registers %s, which %s asks for", m[1], l.Expr)
					continue
				}
			}
			labels = append(slices.Clone(labels), "le", "job", "instance")
			for _, found := range matcher.FindAllStringSubmatch(m[3], -1) {
				if !slices.Contains(labels, found[1]) {
					t.Errorf("%s has no label %s, which %s asks for", name, found[1], l.Expr)
				}
			}
			for _, found := range grouping.FindAllStringSubmatch(selector.ReplaceAllString(expr, ""), -1) {
				for label := range strings.SplitSeq(found[1], ", ") {
					if !slices.Contains(labels, label) {
						t.Errorf("%s has no label %s, by which %s groups", name, label, l.Expr)
					}
				}
			}
		}
		if asked == 0 {
			t.Errorf("no metric is found in %s", l.Expr)
		}
	}
}
