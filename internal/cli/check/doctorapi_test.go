package check

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/zonefold/zonefold/internal/cli/change"
	"github.com/zonefold/zonefold/internal/cli/command"
)

// TestDoctorAsksForWhatTheDialectsOfTheOperatorNeed has a cluster without definitions, and an account without rights.
func TestDoctorAsksForWhatTheDialectsOfTheOperatorNeed(t *testing.T) {
	for _, c := range []struct {
		name, args string // "": there is no Deployment
		groups     []string
		right      string // that the account lacks, besides those that it needs in any case
	}{
		{"of an operator that is not there, those of the usual dialect", "", []string{"kubi.zone", "zonefold.dev"},
			"zones.kubi.zone"},
		{"so of one that is not told", `"--leader-elect"`, []string{"kubi.zone", "zonefold.dev"}, "zones.kubi.zone"},
		{"of one for fleets, theirs, and that of history", `"--dialects=bindy"`,
			[]string{"bindy.firestoned.io", "zonefold.dev"}, ""},
		{"of one for two, those of both", `"--dialects", "homelab,kubizone"`,
			[]string{"dns.homelab.mortenolsen.pro", "kubi.zone", "zonefold.dev"}, "zones.kubi.zone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case r.Method == http.MethodPost:
					_, _ = io.WriteString(w, `{"status": {"allowed": false}}`)
				case strings.HasSuffix(r.URL.Path, "/deployments/zonefold-operator") && c.args != "":
					_, _ = io.WriteString(w, `{"spec": {"template": {"spec": {"containers": [{"args": [`+c.args+`]}]}}}}`)
				default:
					w.WriteHeader(http.StatusNotFound)
					_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure",
						"reason": "NotFound", "code": 404}`)
				}
			}))
			defer server.Close()
			fetcher, err := command.NewFetcher(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			d := &doctor{flags: &doctorFlags{diff: change.DiffFlags{Operator: command.OperatorNamespace}},
				api: command.Asker{Interface: fetcher.Client.RESTClient()}}
			d.operator(t.Context())
			if err := d.definitions(t.Context()); err != nil {
				t.Fatal(err)
			}
			d.operatorsRights(t.Context())
			var groups []string
			rights := ""
			for _, f := range d.findings {
				if name, is := strings.CutPrefix(f.Object, "CustomResourceDefinition "); is {
					_, group, _ := strings.Cut(name, ".")
					groups = append(groups, group)
				} else {
					rights += f.Cause + "\n"
				}
			}
			slices.Sort(groups)
			if groups = slices.Compact(groups); !slices.Equal(groups, c.groups) {
				t.Errorf("it misses definitions of %v", groups)
			}
			if !strings.Contains(rights, "leases") || c.right != "" && !strings.Contains(rights, c.right) ||
				c.right == "" && strings.Contains(rights, "kubi.zone") {
				t.Errorf("it misses rights:\n%s", rights)
			}
		})
	}
}
