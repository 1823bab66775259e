package zonefold_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

var fileName = regexp.MustCompile(`(?:^|[^\w./-])([\w./-]*\w+\.go)\b`)

// TestFilesThatAreNamedExist keeps comments and ARCHITECTURE from naming files that have been moved or renamed. A
// comment may leave out the folder of its own package; ARCHITECTURE may where the folder stands before.
func TestFilesThatAreNamedExist(t *testing.T) {
	there, bases := map[string]bool{}, map[string]bool{}
	for _, file := range allFiles(t) {
		if strings.HasSuffix(file, ".go") {
			there[file], bases[path.Base(file)] = true, true
		}
	}
	for _, file := range goFiles(t) {
		for _, group := range file.syntax.Comments {
			for _, m := range fileName.FindAllStringSubmatch(group.Text(), -1) {
				if !there[m[1]] && !there[path.Join(path.Dir(file.path), m[1])] {
					t.Errorf("%s names %s, which does not exist", file.at(group), m[1])
				}
			}
		}
	}
	for _, m := range fileName.FindAllStringSubmatch(string(read(t, "ARCHITECTURE.md")), -1) {
		if !there[m[1]] && (strings.Contains(m[1], "/") || !bases[m[1]]) {
			t.Errorf("ARCHITECTURE.md names %s, which does not exist", m[1])
		}
	}
}
