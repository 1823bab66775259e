package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// repository is the folder that the tests release.
const repository = "../.."

// small is a release of one program for people and one for servers, for this machine's architecture.
func small(t *testing.T, root string) release {
	t.Helper()
	v, err := parseVersion("v0.8.15-rc.1")
	if err != nil {
		t.Fatal(err)
	}
	all := programs()
	return release{version: v, root: root, log: io.Discard, platforms: []platform{{"linux", runtime.GOARCH}},
		programs: slices.DeleteFunc(all, func(p program) bool { return p.name != "zonefold" && p.name != "bindcar" }),
		source: source{commit: strings.Repeat("c0ffee42", 5), time: time.Date(2026, 11, 26, 7, 1, 54, 0, time.UTC),
			changes: []change{{strings.Repeat("c0ffee42", 5), "zone: refuse claims above the grant"}}}}
}

// TestARelease makes one twice, from two folders, and looks at each of its files as those do whom it is for.
func TestARelease(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "another", "folder")
	copyRepository(t, elsewhere)
	s := site{dir: filepath.Join(t.TempDir(), "v0.8.15-rc.1"), release: small(t, repository)}
	second := site{dir: filepath.Join(t.TempDir(), "out"), release: small(t, elsewhere)}
	failed := make(chan error, 1)
	go func() { failed <- second.release.into(t.Context(), second.dir) }()
	if err := errors.Join(s.release.into(t.Context(), s.dir), <-failed); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.helmPath, err = s.release.helm(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("made from another folder it is the same to the byte", func(t *testing.T) { s.same(t, second) })
	t.Run("the checksums are right, and there is one of each file", s.checksums)
	t.Run("programs run, say their version, and are those of the images", s.programs)
	t.Run("a bill of materials has the modules of the program, in the form of CycloneDX", s.bills)
	t.Run("the provenance is one of SLSA, and has each file", s.provenance)
	t.Run("Helm finds nothing wrong with the chart, and renders it", s.chart)
	t.Run("Helm gets the chart from a registry", s.registry)
	t.Run("the manifest is that of the repository, with the version", s.manifest)
	t.Run("krew installs the plugin", s.plugin)
}

// A site is where a release has been made.
type site struct {
	dir      string
	release  release
	helmPath string
}

func (s site) read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// names are those of all files.
func (s site) names(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func (s site) same(t *testing.T, second site) {
	if diff := cmp.Diff(s.names(t), second.names(t)); diff != "" {
		t.Fatalf("the files (-first +second):\n%s", diff)
	}
	for _, name := range s.names(t) {
		if !bytes.Equal(s.read(t, name), second.read(t, name)) {
			t.Errorf("%s differs", name)
		}
	}
}

// copyRepository copies what git has of the work tree, and what it would take; with other modes and of another time.
func copyRepository(t *testing.T, to string) {
	t.Helper()
	list, err := git(repository).say(t.Context(), "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		from, into := filepath.Join(repository, name), filepath.Join(to, name)
		info, err := os.Lstat(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(into), 0o700); err != nil {
			t.Fatal(err)
		}
		if info.Mode().Type() == fs.ModeSymlink {
			link, err := os.Readlink(from)
			if err := errors.Join(err, os.Symlink(link, into)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		text, err := os.ReadFile(from)
		if err := errors.Join(err, os.WriteFile(into, text, 0o600), os.Chtimes(into, time.Unix(1, 0),
			time.Unix(1, 0))); err != nil {
			t.Fatal(err)
		}
	}
}

func (s site) checksums(t *testing.T) {
	var listed []string
	for line := range strings.Lines(string(s.read(t, "SHA256SUMS"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed = append(listed, name)
		if got := sha256.Sum256(s.read(t, name)); hex.EncodeToString(got[:]) != sum {
			t.Errorf("%s has the checksum %x, not %s", name, got, sum)
		}
	}
	there := slices.DeleteFunc(s.names(t), func(name string) bool { return name == "SHA256SUMS" })
	if diff := cmp.Diff(there, listed); diff != "" {
		t.Errorf("files (-there +listed):\n%s", diff)
	}
}

// program returns the program of an archive.
func (s site) program(t *testing.T, p program) []byte {
	t.Helper()
	files, err := unpack(s.read(t, s.release.archiveName(p, s.release.platforms[0])))
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	var names []string
	for _, f := range files {
		names = append(names, f.name)
		if f.run {
			text = f.text
		}
	}
	want := []string{p.name, "LICENSE"}
	if p.people {
		want = append(want, "completions/zonefold.bash", "completions/_zonefold", "completions/zonefold.fish",
			"completions/zonefold.ps1")
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the archive of %s (-want +got):\n%s", p.name, diff)
	}
	return text
}

func (s site) programs(t *testing.T) {
	for _, p := range s.release.programs {
		text := s.program(t, p)
		path := filepath.Join(t.TempDir(), p.name)
		if err := os.WriteFile(path, text, 0o700); err != nil {
			t.Fatal(err)
		}
		args := []string{"--version"}
		if p.people {
			args = []string{"version"}
		}
		want := fmt.Sprintf("%s v0.8.15-rc.1 (commit %s, 2026-11-26T07:01:54Z, %s, linux/%s)\n", p.name,
			s.release.source.commit, runtime.Version(), runtime.GOARCH)
		if said, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil ||
			string(said) != want {
			t.Errorf("%s says %s, want %s (%v)", p.name, said, want, err)
		}
		image := s.read(t, "zonefold-"+p.name+"_v0.8.15-rc.1_image.tar")
		if !slices.ContainsFunc(layers(t, image), func(layer []file) bool {
			return slices.ContainsFunc(layer, func(f file) bool { return f.name == p.name && bytes.Equal(f.text, text) })
		}) {
			t.Errorf("no layer of the image of %s has the program of the archive", p.name)
		}
	}
}

// layers returns what is packed and compressed in an OCI layout.
func layers(t *testing.T, image []byte) (all [][]file) {
	t.Helper()
	for _, blob := range entries(t, image) {
		if bytes.HasPrefix(blob.text, []byte{0x1f, 0x8b}) {
			layer, err := unpack(blob.text)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, layer)
		}
	}
	return all
}

// entries returns the files of a tar archive.
func entries(t *testing.T, archive []byte) (all []file) {
	t.Helper()
	for in := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file{name: header.Name, text: text})
	}
}

// tool runs a program in the repository, with more of an environment, and returns what it prints on standard output.
func (s site) tool(t *testing.T, path string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir, cmd.Env = repository, append(os.Environ(), env...)
	var said, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &failed
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v: %s%s", filepath.Base(path), strings.Join(args, " "), err, said.String(), failed.String())
	}
	return said.String()
}
