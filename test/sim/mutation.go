package sim

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// A Mutation is one fault that a programmer could make. As a txtar archive its comment says what is wrong then; of its
// files, each first of two is a text, under the name of the file that has it, and the second, "instead", what stands
// there instead.
type Mutation struct {
	Name  string // of its file
	What  string // a sentence
	Edits []Edit
}

// An Edit puts a text into the place of another one. Both are inside of one function.
type Edit struct {
	File string // from the root of the repository
	Old  string
	New  string
}

// Mutations reads all that there are in a directory.
func Mutations(dir fs.FS) ([]Mutation, error) {
	names, err := fs.Glob(dir, "*.txtar")
	if err != nil {
		return nil, err
	}
	all := make([]Mutation, 0, len(names))
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		m := Mutation{Name: strings.TrimSuffix(name, path.Ext(name))}
		archive := txtar.Parse(text)
		m.What = strings.TrimSpace(string(archive.Comment))
		for i := 0; i+1 < len(archive.Files); i += 2 {
			was, is := archive.Files[i], archive.Files[i+1]
			if is.Name != "instead" {
				return nil, fmt.Errorf("reading mutation %s: what stands in %s instead is missing", name, was.Name)
			}
			m.Edits = append(m.Edits, Edit{was.Name, string(was.Data), string(is.Data)})
		}
		if len(m.Edits) == 0 || len(archive.Files)%2 != 0 {
			return nil, fmt.Errorf("reading mutation %s: it is to have pairs of a file and what is there instead", name)
		}
		all = append(all, m)
	}
	return all, nil
}

// In says where in its file the text of an edit is. It has to be there once.
func (e Edit) In(source string) (int, error) {
	if n := strings.Count(source, e.Old); n != 1 || e.Old == e.New {
		return 0, fmt.Errorf("the text is %d times in %s; it is to be there once, and to be another one then:\n%s", n, e.File,
			e.Old)
	}
	return strings.Index(source, e.Old), nil
}
