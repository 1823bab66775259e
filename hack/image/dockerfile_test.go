package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/zonefold/zonefold/hack/compile"
)

// A stage is what one FROM of a Dockerfile makes, with what its base has.
type stage struct {
	config v1.Config
	copies map[string]string // destination to source
	runs   []string
	from   string
}

func TestDockerfileMakesTheSameImages(t *testing.T) {
	stages, stamp := readDockerfile(t), compile.Stamp{Version: "$VERSION", Commit: "$COMMIT", Date: "$DATE"}
	environment := strings.Join(compile.Target{OS: "$TARGETOS", Arch: "$TARGETARCH"}.Environment(), " ") + " "
	for _, p := range programs() {
		got, ok := stages[p.name]
		if !ok {
			t.Errorf("Dockerfile has no stage %s", p.name)
			continue
		}
		if diff := cmp.Diff(p.config(stamp), got.config); diff != "" {
			t.Errorf("%s: hack/image (-) and Dockerfile (+) differ:\n%s", p.name, diff)
		}
		want := map[string]string{"/": "hack/image/base/", certsPath: "build:" + certsPath, "/" + p.name: "build:/out/" +
			p.name}
		if diff := cmp.Diff(want, got.copies); diff != "" {
			t.Errorf("%s: the files of hack/image (-) and Dockerfile (+) differ:\n%s", p.name, diff)
		}
		if got.from != "scratch" {
			t.Errorf("%s begins with %s, want nothing at all", p.name, got.from)
		}
		if !slices.ContainsFunc(stages["build"].runs, func(run string) bool {
			return strings.Contains(run, `-ldflags "`+stamp.Flags()+`"`) && strings.Contains(run, "./"+p.folder) &&
				strings.HasPrefix(run, environment) && strings.Contains(run, " -trimpath -buildvcs=false ")
		}) {
			t.Errorf("no RUN of Dockerfile compiles %s as hack/image does: %q", p.name, stages["build"].runs)
		}
	}
}

func TestDockerfileHasTheGoOfTheModule(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	if from := readDockerfile(t)["build"].from; from != "golang:"+string(wanted[1]) {
		t.Errorf("Dockerfile builds with %s, go.mod wants %s", from, wanted[1])
	}
}

// TestDockerSeesWhatItCompiles holds .dockerignore, which leaves out everything that it does not name, to the imports.
func TestDockerSeesWhatItCompiles(t *testing.T) {
	text, err := os.ReadFile("../../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	seen := func(path string) bool {
		return slices.ContainsFunc(strings.Fields(string(text)), func(line string) bool {
			return line == "!"+path || strings.HasPrefix(line, "!") && strings.HasPrefix(path, line[1:]+"/")
		})
	}
	const format = `{{with .Module}}{{if .Main}}{{$.ImportPath}}/{{range $.EmbedFiles}} {{$.ImportPath}}/{{.}}{{end}}{{end}}{{end}}`
	args := []string{"list", "-deps", "-f", format}
	for _, p := range programs() {
		args = append(args, compile.Module+"/"+p.folder)
	}
	files, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(strings.Fields(string(files)), "go.mod", "go.sum", "hack/image/base") {
		if file = strings.TrimPrefix(file, compile.Module+"/"); !seen(file) || strings.Contains(file, "/testdata/") {
			t.Errorf(".dockerignore leaves out %s, which is compiled or copied", file)
		}
	}
}

// readDockerfile understands the instructions that ours has, and no others.
func readDockerfile(t *testing.T) map[string]stage {
	t.Helper()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	stages, name := map[string]stage{}, ""
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if word == "FROM" {
			fields := strings.Fields(regexp.MustCompile(`--\S+ `).ReplaceAllString(rest, ""))
			name = fields[2]
			stages[name] = begin(stages, fields[0])
			continue
		}
		current := stages[name]
		current.add(t, word, rest)
		stages[name] = current
	}
	return stages
}

// begin returns a stage that is like another one, or begins with an image.
func begin(stages map[string]stage, from string) stage {
	if old, ok := stages[from]; ok {
		old.config.Labels, old.copies = maps.Clone(old.config.Labels), maps.Clone(old.copies)
		return old
	}
	return stage{from: from, copies: map[string]string{}, config: v1.Config{Labels: map[string]string{}}}
}

func (s *stage) add(t *testing.T, word, rest string) {
	t.Helper()
	fields := strings.Fields(rest)
	switch word {
	case "COPY":
		from, ok := strings.CutPrefix(fields[0], "--from=")
		if ok {
			fields = []string{from + ":" + fields[1], fields[2]}
		}
		s.copies[fields[len(fields)-1]] = fields[0]
	case "LABEL":
		for _, m := range regexp.MustCompile(`(\S+)="([^"]*)"`).FindAllStringSubmatch(rest, -1) {
			s.config.Labels[m[1]] = m[2]
		}
	case "USER":
		s.config.User = rest
	case "WORKDIR":
		s.config.WorkingDir = rest
	case "ENTRYPOINT":
		if err := json.Unmarshal([]byte(rest), &s.config.Entrypoint); err != nil {
			t.Fatalf("ENTRYPOINT %s: %v", rest, err)
		}
	case "RUN":
		s.runs = append(s.runs, rest)
	case "ARG":
	default:
		t.Fatalf("Dockerfile has %s, which this test does not know", word)
	}
}
