package bindcar

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestContentOverACrash has a file whose last line was cut off, by a crash or a full disk.
func TestContentOverACrash(t *testing.T) {
	for _, tt := range []struct{ name, file, then, want string }{
		{"while a zone was added", "declared\n= a.test\n+ b.te", "", "a.test"},
		{"while a zone was removed", "declared\n= a.test\n= a.test.example\n- a.test", "", "a.test a.test.example"},
		{"and then a zone is added", "declared\n= a.test\n+ b.te", "+c.test", "a.test c.test"},
		{"and then the same zone is added", "declared\n= a.test\n+ b.test", "+b.test", "a.test b.test"},
		{"and then a zone is removed", "declared\n= a.test\n= b.test\n+ c", "-a.test", "b.test"},
		{"before the mark of a zone", "declared\n= a.test\n+", "+b.test", "a.test b.test"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, contentFile), []byte(tt.file), fileMode); err != nil {
			t.Fatal(err)
		}
		c := reopened(t, dir)
		if zone, ok := strings.CutPrefix(tt.then, "+"); ok {
			wrote(t, c.add(zone))
		} else if zone, ok := strings.CutPrefix(tt.then, "-"); ok {
			wrote(t, c.remove(zone))
		}
		for _, c := range []*content{c, reopened(t, dir)} {
			if zones, declared := c.get(); !declared || strings.Join(zones, " ") != tt.want {
				t.Errorf("%s: %v, %v; want %s", tt.name, zones, declared, tt.want)
			}
		}
	}
}

func TestContentAfterAWriteThatFailed(t *testing.T) {
	dir := t.TempDir()
	c := reopened(t, dir)
	wrote(t, c.set([]string{"a.test"}, ""))
	if err := os.Rename(c.path, c.path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := c.add("b.test"); err == nil {
		t.Fatal("a change was noted in a file that is not there")
	}
	text, err := os.ReadFile(c.path + ".away")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.path, append(text, "+ b.te"...), fileMode); err != nil { // what a full disk leaves
		t.Fatal(err)
	}
	wrote(t, c.add("c.test"))
	for _, c := range []*content{c, reopened(t, dir)} {
		if zones, _ := c.get(); strings.Join(zones, " ") != "a.test c.test" {
			t.Errorf("%v", zones)
		}
	}
}

func reopened(t *testing.T, dir string) *content {
	t.Helper()
	c, err := openContent(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wrote(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
