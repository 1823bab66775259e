package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	gardener "github.com/zonefold/zonefold/api/gardener/v1alpha1"
)

// A file is the text of one input.
type file struct {
	name  string
	text  []byte
	named bool // by the user, not found in a folder
	list  *List
}

// stdin is what messages call the standard input.
const stdin = "stdin"

// open reads the files of all paths, each file once.
func open(opts Options) ([]file, error) {
	var files []file
	for _, t := range opts.Texts {
		files = append(files, file{t.Name, t.Text, false, t.List})
	}
	seen := map[string]bool{}
	for _, path := range opts.Paths {
		if path == "-" {
			if seen["-"] {
				return nil, errors.New("the standard input (-f -) can be read only once")
			}
			seen["-"] = true
			text, err := io.ReadAll(opts.Stdin)
			if err != nil {
				return nil, fmt.Errorf("reading the standard input: %w", err)
			}
			files = append(files, file{stdin, text, true, nil})
			continue
		}
		names, err := Files(path)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, fmt.Errorf("reading objects: %w", err)
			}
			files = append(files, file{name, text, name == filepath.Clean(path), nil})
		}
	}
	return files, nil
}

// extensions are those of the files that are read in folders.
var extensions = []string{".yaml", ".yml", ".json"}

// Files returns the file path, or the manifests of the folder path and its sub-folders
// in lexical order. Hidden sub-folders, such as .git, are left out; so are links to
// folders, which may lead in circles.
func Files(path string) ([]string, error) {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading objects: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var names []string
	root := path + string(filepath.Separator) // which follows a link, as WalkDir itself does not
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name != root && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
		case slices.Contains(extensions, strings.ToLower(filepath.Ext(name))):
			info, err := os.Stat(name)
			if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(entry.Name(), ".#") {
				return nil // Emacs locks a file by a link that leads nowhere
			}
			if err != nil {
				return err
			}
			if info.Mode().IsRegular() {
				names = append(names, name)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the folder %s: %w", path, err)
	}
	return names, nil
}

// mentionsUs reports whether a text could hold objects of ours.
func mentionsUs(text []byte) bool {
	for _, group := range groups {
		if bytes.Contains(text, []byte(group)) {
			return true
		}
	}
	return bytes.Contains(text, []byte(gardener.GroupVersion.Group)) && bytes.Contains(text, []byte(DNSRecord))
}
