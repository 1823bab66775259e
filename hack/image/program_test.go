package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/hack/compile"
)

func TestProgramsAreStaticAndAloneInTheirImages(t *testing.T) {
	const version, commit, date = "v0.8.15-image.test", "feedc0de42", "2026-11-26T07:01:54Z" // nothing else has them
	limits := map[string]int{"operator": 80 << 20, "bindcar": 30 << 20, "dnshook": 40 << 20, "zonefold": 120 << 20}
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			path := makeArchive(t, "-version", version, "-commit", commit, "-date", date, "-platforms",
				"linux/"+runtime.GOARCH, p.name)
			img := onlyImage(t, path, "docker.io/zonefold/"+p.name+":"+version)
			config, err := img.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			if config.OS != "linux" || config.Architecture != runtime.GOARCH {
				t.Errorf("it is for %s/%s", config.OS, config.Architecture)
			}
			if made := config.Created.UTC().Format(time.RFC3339); made != date {
				t.Errorf("it says that it is of %s, want %s", made, date)
			}
			if diff := cmp.Diff(p.config(compile.Stamp{Version: version, Commit: commit}), config.Config); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
			content := contents(t, img)
			want := []string{"/etc/group", "/etc/nsswitch.conf", "/etc/passwd", certsPath, "/" + p.name}
			if got := content.names(); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
				t.Errorf("it holds %q, want %q", got, want)
			}
			if size := content.size(); size > limits[p.name] {
				t.Errorf("it has %d octets, more than %d", size, limits[p.name])
			}
			if account := fmt.Sprintf(":x:%d:%d:", p.user, p.user); !strings.Contains(string(content["/etc/passwd"].text),
				account) {
				t.Errorf("/etc/passwd has no user %s", account)
			}
			checkStatic(t, content["/"+p.name].text)
			ask := "--version"
			if p.name == "zonefold" {
				ask = "version" // a command of its own
			}
			checkVersion(t, content["/"+p.name].text, ask, version, commit, date)
		})
	}
}

// checkVersion asks the program for its version.
func checkVersion(t *testing.T, program []byte, ask string, words ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, program, 0o700); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), path, ask).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", ask, err, said)
	}
	for _, word := range append(words, runtime.Version()) {
		if !strings.Contains(string(said), word) {
			t.Errorf("%s does not say %s: %s", ask, word, said)
		}
	}
}

// checkStatic reports a program that needs a loader or libraries, which its image does not have.
func checkStatic(t *testing.T, program []byte) {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range file.Progs {
		if header.Type == elf.PT_INTERP {
			t.Error("it needs a loader")
		}
	}
}

func TestArchitectures(t *testing.T) {
	hello := program{name: "hello", folder: "hack/image/testdata/hello", user: 65532}
	const name = "docker.io/zonefold/hello:dev"
	file := func(t *testing.T) string {
		t.Helper()
		o, err := parse(nil, io.Discard) // both architectures
		if err != nil {
			t.Fatal(err)
		}
		made, err := hello.make(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "hello.tar")
		if _, err := archive(path, made.index, []string{name}); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first := file(t)
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	for _, img := range images(t, first, name) {
		config, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		program := contents(t, img)["/hello"].text
		file, err := elf.NewFile(bytes.NewReader(program))
		if err != nil {
			t.Fatal(err)
		}
		if file.Machine != machines[config.Architecture] {
			t.Errorf("the program for %s is for %s", config.Architecture, file.Machine)
		}
		delete(machines, config.Architecture)
	}
	if len(machines) > 0 {
		t.Errorf("nothing is there for %v", machines)
	}
	t.Run("the same input gives the same file", func(t *testing.T) {
		if second := file(t); !bytes.Equal(mustRead(t, first), mustRead(t, second)) {
			t.Error("two archives of one source differ")
		}
	})
}
