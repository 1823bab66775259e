// Package charts_test renders the chart with Helm's own code and checks what comes out.
package charts_test

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const (
	folder    = "zonefold"
	namespace = "zonefold-system"
	// kubernetes is the version that the chart is rendered for.
	kubernetes = "v1.36.3"
)

// A dialect is what its switch brings.
type dialect struct {
	groups []string // of config/crd
	rights []string // files of config/rbac
	apart  bool     // the schemas have a switch of their own
	shared string   // a file of config/crd of another dialect's group that this one needs too
}

// reviews are the rights for admission with a certificate of the operator's own.
const reviews = "admission"

var dialects = map[string]dialect{
	"kubizone": {[]string{"zonefold.dev", "kubi.zone"}, []string{"backends", "kubizone"}, false, ""},
	"bindy":    {[]string{"bindy.firestoned.io"}, []string{"bindy"}, false, "zonefold.dev_zonerevisions.yaml"},
	"homelab":  {[]string{"dns.homelab.mortenolsen.pro"}, []string{"homelab"}, false, ""},
	"gardener": {[]string{"extensions.gardener.cloud"}, []string{"gardener"}, true, ""},
}

// A rendering is what a release would apply.
type rendering struct {
	objects  []runtime.Object
	manifest string
	notes    string
}

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Helm tells of each link that it follows
	os.Exit(m.Run())
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// install is helm template on a cluster that has these APIs too.
func install(t *testing.T, apis ...string) *action.Install {
	t.Helper()
	install := action.NewInstall(action.NewConfiguration())
	install.DryRunStrategy = action.DryRunClient
	install.ReleaseName, install.Namespace = "zonefold", namespace
	install.APIVersions = common.VersionSet(apis)
	version, err := common.ParseKubeVersion(kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	install.KubeVersion = version
	return install
}

// render does what helm template does with the values, in YAML, on a cluster that has these APIs too.
func render(t *testing.T, text string, apis ...string) (rendering, error) {
	t.Helper()
	var values map[string]any
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	releaser, err := install(t, apis...).RunWithContext(t.Context(), load(t), values)
	if err != nil {
		return rendering{}, fmt.Errorf("rendering: %w", err)
	}
	r, ok := releaser.(*release.Release)
	if !ok {
		t.Fatalf("a release is a %T", releaser)
	}
	return rendering{decode(t, r.Manifest), r.Manifest, r.Info.Notes}, nil
}

func mustRender(t *testing.T, text string, apis ...string) rendering {
	t.Helper()
	r, err := render(t, text, apis...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// only are the values with which these dialects are on, and no other.
func only(on ...string) string {
	var lines []string
	for name := range dialects {
		lines = append(lines, fmt.Sprintf("%s: %v", name, slices.Contains(on, name)))
	}
	return "dialects: {" + strings.Join(lines, ", ") + "}"
}

func TestLintFindsNothing(t *testing.T) {
	for _, values := range []map[string]any{nil, {"dialects": map[string]any{"bindy": true, "homelab": true}}} {
		lint := action.NewLint()
		lint.Strict = true
		result := lint.Run([]string{folder}, values)
		if result.TotalChartsLinted != 1 || len(result.Errors) > 0 {
			t.Errorf("linting with %v: %d charts, errors %v", values, result.TotalChartsLinted, result.Errors)
		}
		for _, m := range result.Messages {
			if !strings.Contains(m.Error(), "icon is recommended") {
				t.Errorf("linting with %v: %s", values, m.Error())
			}
		}
	}
}

func TestAPackageHasRealFiles(t *testing.T) {
	pack := action.NewPackage()
	pack.Destination = t.TempDir()
	archive, err := pack.Run(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := loader.Load(archive)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]byte{}
	for _, file := range packed.Files {
		got[file.Name] = file.Data
	}
	for _, part := range []string{"alerts", "crd", "dashboards", "rbac"} {
		for name, text := range configured(t, part) {
			name = path.Join("files", part, name)
			if string(got[name]) != string(text) {
				t.Errorf("%s is in the package with %d octets, and has %d in config/%s", name, len(got[name]), len(text), part)
			}
			delete(got, name)
		}
	}
	for name := range got {
		if name != ".helmignore" {
			t.Errorf("the package has %s, which nothing in it needs", name)
		}
	}
	if _, err := install(t).RunWithContext(t.Context(), packed, map[string]any{"unknown": 1}); err == nil {
		t.Error("the package has lost its schema")
	}
}

// configured reads the generated files of a folder of config/.
func configured(t *testing.T, part string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	all, err := fs.ReadDir(os.DirFS(filepath.Join("..", "config", part)), ".")
	if err != nil || len(all) == 0 {
		t.Fatalf("config/%s has no files: %v", part, err)
	}
	for _, file := range all {
		name := file.Name()
		if path.Ext(name) == ".go" {
			continue
		}
		if files[name], err = os.ReadFile(filepath.Join("..", "config", part, name)); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestTheInstallManifestIsTheRendering(t *testing.T) {
	want := file(t, "namespace.yaml") + strings.TrimSpace(mustRender(t, "").manifest)
	if strings.TrimSpace(file(t, "../config/install/zonefold.yaml")) != want {
		t.Error("config/install/zonefold.yaml is not what the chart gives with its default values; run make generate")
	}
}
