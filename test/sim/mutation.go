package sim

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// A Mutation is one fault that a programmer could make: a text of a file, and what stands there instead. As a txtar archive its comment says
// what is wrong then, the first file is the text, under the name of the file that has it, and the second, "instead", what stands there instead.
type Mutation struct {
	Name string // of its file
	What string // a sentence
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
		archive := txtar.Parse(text)
		if len(archive.Files) != 2 || archive.Files[1].Name != "instead" {
			return nil, fmt.Errorf("reading mutation %s: it is to have a file and what is there instead", name)
		}
		all = append(all, Mutation{
			Name: strings.TrimSuffix(name, path.Ext(name)), What: strings.TrimSpace(string(archive.Comment)),
			File: archive.Files[0].Name, Old: string(archive.Files[0].Data), New: string(archive.Files[1].Data),
		})
	}
	return all, nil
}

// Apply returns what its file is with the mutation. The text has to be there once.
func (m Mutation) Apply(source string) (string, error) {
	if n := strings.Count(source, m.Old); n != 1 || m.Old == m.New {
		return "", fmt.Errorf("mutation %s: its text is %d times in %s; it is to be there once, and to be another one then", m.Name, n, m.File)
	}
	return strings.Replace(source, m.Old, m.New, 1), nil
}
