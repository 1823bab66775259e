package bindcar

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// manual returns the first cells of the table of a section of docs/bindcar.md, with the rest of their rows.
func manual(t *testing.T, heading string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/bindcar.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("docs/bindcar.md has no section %s", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	cells := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|(.*)\\|$").FindAllStringSubmatch(section, -1) {
		cells[row[1]] = row[2]
	}
	return cells
}

func sameNames(t *testing.T, what string, listed map[string]string, there []string) {
	t.Helper()
	for _, name := range there {
		if _, ok := listed[name]; !ok {
			t.Errorf("%s of docs/bindcar.md do not have %s", what, name)
		}
	}
	for name := range listed {
		if !slices.Contains(there, name) {
			t.Errorf("%s of docs/bindcar.md have %s, which does not exist", what, name)
		}
	}
}

func TestTheManualHasEveryRoute(t *testing.T) {
	var there []string
	for _, r := range (&Server{settings: Settings{Docs: true}}).routes() {
		there = append(there, r.method+" "+r.path)
	}
	sameNames(t, "the routes", manual(t, "Routes"), there)
}

func TestTheManualHasEveryVariable(t *testing.T) {
	var there []string
	for _, file := range []string{"parse.go", "parseauth.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`"([A-Z][A-Z0-9]*_[A-Z0-9_]+)"`).FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(there, name[1]) {
				there = append(there, name[1])
			}
		}
	}
	listed := manual(t, "Environment")
	sameNames(t, "the variables", listed, there)
	s, err := ParseSettings(nil, environment(withAccount))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"BIND_ZONE_DIR": s.ZoneDir, "RNDC_SERVER": s.RNDC, "RUST_LOG": s.LogLevel,
		"BIND_API_ADDRESS": strings.Split(s.Listen, ":")[0], "API_PORT": strings.Split(s.Listen, ":")[1],
		"BIND_TOKEN_AUDIENCES": s.Review.Audiences[0], "NSUPDATE_PORT": strings.Split(s.DNS, ":")[1],
		"RNDC_KEY_NAME": s.Keys.Static[0].Name,
	} {
		if !strings.HasPrefix(listed[name], " `"+value+"` |") {
			t.Errorf("docs/bindcar.md has for %s:%s; the default is %s", name, listed[name], value)
		}
	}
}

func TestTheManualHasEveryMetric(t *testing.T) {
	m := newMetrics("1", func() float64 { return 0 })
	described := make(chan *prometheus.Desc, 100)
	m.registry.Describe(described)
	close(described)
	listed := manual(t, "Metrics")
	var there []string
	for d := range described {
		name := regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(d.String())[1]
		labels := regexp.MustCompile(`variableLabels: \{([^}]*)\}`).FindStringSubmatch(d.String())[1]
		there = append(there, name)
		row := strings.Split(listed[name], "|")
		if len(row) < 3 || strings.NewReplacer("`", "", " ", "").Replace(row[1]) != labels {
			t.Errorf("docs/bindcar.md has for %s:%s; the labels are %s", name, listed[name], labels)
		}
	}
	sameNames(t, "the metrics", listed, there)
}
