package watch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestEveryChangeIsTold makes one change after another to what is watched, each the way that a program does it.
func TestEveryChangeIsTold(t *testing.T) {
	for _, c := range []struct {
		name   string
		before string // shell commands in an empty folder
		path   string
		after  []string // changes, each of which has to be told
	}{
		{"a file in a folder", "mkdir z; echo 1 > z/a.yaml", "z", []string{"echo 2 > z/a.yaml", "rm z/a.yaml",
			"echo 3 > z/b.yaml", "chmod 000 z/b.yaml"}},
		{"a file that an editor replaces", "mkdir z; echo 1 > z/a.yaml", "z/a.yaml", []string{
			"echo 2 > z/.a.swp; mv z/.a.swp z/a.yaml", "mv z/a.yaml z/a.yaml~; echo 3 > z/a.yaml", "echo 4 > z/a.yaml"}},
		{"folders that come and go", "mkdir z", "z", []string{
			"mkdir -p z/b/c/d; echo 1 > z/b/c/d/a.yaml", "echo 2 > z/b/c/d/a.yaml", "mv z/b z/e", "echo 3 > z/e/c/d/a.yaml",
			"mv z/e b",
			"mkdir -p z/e/c; echo 1 > z/e/c/a.yaml", "echo 2 > z/e/c/a.yaml", "rm -r z/e"}},
		{"a mounted ConfigMap", "mkdir -p z/..1; echo 1 > z/..1/a.yaml; ln -s ..1 z/..data; ln -s ..data/a.yaml z/a.yaml",
			"z", []string{
				"mkdir z/..2; echo 2 > z/..2/a.yaml; ln -s ..2 z/..tmp; mv -T z/..tmp z/..data; rm -r z/..1",
				"mkdir z/..3; echo 3 > z/..3/a.yaml; ln -s ..3 z/..tmp; mv -T z/..tmp z/..data; rm -r z/..2",
				"echo 4 > z/..3/a.yaml"}},
		{"a link to a release", "mkdir -p 1/z 2/z; echo 1 > 1/z/a.yaml; ln -s 1 now", "now/z", []string{
			"ln -s 2 new; mv -T new now", "echo 2 > 2/z/a.yaml", "rm now", "ln -s 1 now", "echo 3 > 1/z/a.yaml"}},
		{"a link to a file elsewhere", "mkdir z x; echo 1 > x/b; ln -s ../x/b z/a.yaml", "z", []string{"echo 2 > x/b",
			"rm x/b", "echo 3 > x/b"}},
		{"a folder that is replaced, and those above it", "mkdir -p a/b/z", "a/b/z", []string{
			"echo 1 > a/b/z/a.yaml", "mkdir n; mv a/b/z o; mv n a/b/z", "echo 2 > a/b/z/a.yaml", "mv a o2", "mkdir -p a/b/z",
			"echo 3 > a/b/z/a.yaml"}},
		{"a path that does not exist yet", "", "a/b/z.yaml", []string{"mkdir a", "mkdir a/b", "echo 1 > a/b/z.yaml",
			"echo 2 > a/b/z.yaml"}},
		{"links in a circle", "mkdir z; ln -s b.yaml z/a.yaml; ln -s a.yaml z/b.yaml", "z", []string{"rm z/b.yaml",
			"echo 1 > z/b.yaml"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			shell(t, dir, c.before)
			w := follow(t, filepath.Join(dir, c.path))
			for _, change := range c.after {
				shell(t, dir, change)
				told(t, w, change)
				if err := w.Follow(); err != nil {
					t.Fatal(err)
				}
				drain(t, w)
			}
		})
	}
}

// TestOthersAreLeftAlone asks of names in and beside a folder that is watched.
func TestOthersAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	shell(t, dir, "mkdir z z/.git; echo 1 > z/a.yaml")
	p := placesOf([]string{filepath.Join(dir, "z")})
	for name, want := range map[string]bool{
		"z": true, "z/a.yaml": true, "z/new": true, "z/.git": true, "other": false, "z2/a.yaml": true,
	} {
		if got := p.matter(filepath.Join(dir, name)); got != want {
			t.Errorf("what happens to %s matters: %t, want %t", name, got, want)
		}
	}
	if _, watched := p[filepath.Join(dir, "z", ".git")]; watched {
		t.Error("a hidden folder is watched")
	}
}

// TestBurstsAreOneChange writes a file many times, and then without end: what never gets quiet is told too.
// TestWhatHappensWhileOneReads will be told, and what was read may be half of it; unless it never ends.
func TestWhatHappensWhileOneReads(t *testing.T) {
	dir := t.TempDir()
	w := follow(t, filepath.Join(dir, "a.yaml"))
	shell(t, dir, "echo 1 > a.yaml")
	told(t, w, "the first change")
	if w.Again() {
		t.Error("there is said to be another change")
	}
	seen := false
	for try := 0; try < 50 && !seen; try++ { // a machine that pauses this test may miss the moment
		shell(t, dir, fmt.Sprintf("echo %d > a.yaml", try))
		for waiting := true; waiting && !seen; {
			select {
			case <-w.Changed():
				waiting = false
			default:
				seen = w.Again()
			}
		}
	}
	if !seen {
		t.Fatal("a change is never announced before it is told")
	}
	told(t, w, "the last change")
	if w.Again() {
		t.Error("there is said to be one more change")
	}
}

func TestBurstsAreOneChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	w := follow(t, path)
	write := func() {
		if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
			t.Error(err)
		}
	}
	begin := time.Now()
	for range 500 {
		write()
	}
	told(t, w, "the burst")
	most := 1 + int(time.Since(begin)/quiet) // were every pause of this machine one between two bursts
	if more := drain(t, w); more >= most {
		t.Errorf("a burst is told %d times, want fewer than %d", more+1, most+1)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				write()
			}
		}
	}()
	told(t, w, "what does not end")
	close(stop)
	<-stopped
}

func follow(t *testing.T, path string) *Watcher {
	t.Helper()
	w, err := New([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := w.Follow(); err != nil {
		t.Fatal(err)
	}
	return w
}

func told(t *testing.T, w *Watcher, what string) {
	t.Helper()
	select {
	case <-w.Changed():
	case <-time.After(10 * time.Second):
		t.Fatalf("nothing is told of %s", what)
	}
}

// drain follows until nothing has been told for a while, and returns how often something was: the next to be told is
// about what comes next.
func drain(t *testing.T, w *Watcher) (count int) {
	t.Helper()
	for {
		select {
		case <-w.Changed():
			count++
			if err := w.Follow(); err != nil {
				t.Fatal(err)
			}
		case <-time.After(3 * quiet):
			return count
		}
	}
}

func shell(t *testing.T, dir, commands string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", commands)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", commands, err, out)
	}
}
