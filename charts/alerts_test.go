package charts_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const alertsFile = "../config/alerts/zonefold.yaml"

// alerts is what Prometheus reads.
type alerts struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

// TestWhenAlertsFire has Prometheus' own tool live through the hours of testdata/alerts.yaml.
func TestWhenAlertsFire(t *testing.T) {
	for _, command := range [][]string{
		{"check", "rules", alertsFile},
		{"test", "rules", "testdata/alerts.yaml"},
	} {
		if out, err := exec.CommandContext(t.Context(), "promtool", command...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(command, " "), err, out)
		}
	}
}

// TestAlertsAreWhole: each alert is seen to fire and not to fire, has a section in the documentation, and no metric
// that there is not is in it.
func TestAlertsAreWhole(t *testing.T) {
	var all alerts
	if err := yaml.Unmarshal([]byte(file(t, alertsFile)), &all); err != nil || len(all.Groups) != 1 {
		t.Fatalf("%d groups: %v", len(all.Groups), err)
	}
	var tests struct {
		Tests []struct {
			Alerts []struct {
				Name   string `json:"alertname"`
				Expect []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}
	if err := yaml.Unmarshal([]byte(file(t, "testdata/alerts.yaml")), &tests); err != nil {
		t.Fatal(err)
	}
	var fires, rests []string
	for _, test := range tests.Tests {
		for _, a := range test.Alerts {
			if len(a.Expect) > 0 {
				fires = append(fires, a.Name)
			} else {
				rests = append(rests, a.Name)
			}
		}
	}
	page, known := file(t, "../docs/alerts.md"), file(t, "../docs/metrics.md")
	metric := regexp.MustCompile(`zonefold_\w+`)
	for _, rule := range all.Groups[0].Rules {
		if !slices.Contains(fires, rule.Alert) || !slices.Contains(rests, rule.Alert) {
			t.Errorf("nobody has seen whether %s fires and does not fire", rule.Alert)
		}
		if !strings.Contains(page, "\n## "+rule.Alert+"\n") {
			t.Errorf("docs/alerts.md has no section %s", rule.Alert)
		}
		for _, name := range metric.FindAllString(rule.Expr, -1) {
			if !strings.Contains(known, "`"+strings.TrimSuffix(name, "_bucket")+"`") {
				t.Errorf("%s uses %s, which docs/metrics.md does not have", rule.Alert, name)
			}
		}
	}
}

// TestAlertsPointToTheirSection of the page that the values name.
func TestAlertsPointToTheirSection(t *testing.T) {
	rule := find[*unstructured.Unstructured](t, mustRender(t, everything), "PrometheusRule zonefold-operator")
	if rule.GetLabels()["release"] != "prometheus" {
		t.Errorf("it has the labels %v", rule.GetLabels())
	}
	text, err := yaml.Marshal(rule.Object["spec"])
	if err != nil {
		t.Fatal(err)
	}
	var all alerts
	if err := yaml.Unmarshal(text, &all); err != nil || len(all.Groups) != 1 || len(all.Groups[0].Rules) < 10 {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, rule := range all.Groups[0].Rules {
		want := "https://wiki.example.org/dns#" + strings.ToLower(rule.Alert)
		if got := rule.Annotations["runbook_url"]; got != want || rule.Annotations["summary"] == "" {
			t.Errorf("%s points to %q", rule.Alert, got)
		}
	}
}
