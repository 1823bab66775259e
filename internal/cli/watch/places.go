package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// places are folders to watch, and the names in each that matter; all do where there is no list.
type places map[string]map[string]bool

// placesOf returns what decides what some paths lead to.
func placesOf(paths []string) places {
	p := places{}
	for _, path := range paths {
		if abs, err := filepath.Abs(path); err == nil { // it fails where there is no working directory any more
			p.path(abs)
		}
	}
	return p
}

// path adds a file, or a folder with what is below it. As when reading, hidden folders and links to folders below it do
// not count.
func (p places) path(path string) {
	root := p.trace(path)
	_ = filepath.WalkDir(root, func(name string, entry fs.DirEntry, _ error) error { // who reads it is told of errors
		switch {
		case entry == nil: // there is none
		case entry.IsDir() && name != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir():
			p[name] = nil
		case entry.Type()&fs.ModeSymlink != 0:
			p.trace(name)
		}
		return nil
	})
}

// name adds a name in a folder.
func (p places) name(dir, name string) {
	names, known := p[dir]
	if known && names == nil {
		return
	}
	if names == nil {
		names = map[string]bool{}
		p[dir] = names
	}
	names[name] = true
}

const maxLinks = 40 // as many as Linux follows

// trace adds all names on the way to an absolute path, and returns where that ends, which may not exist.
func (p places) trace(path string) string {
	begin := func(path string) (string, []string) {
		volume := filepath.VolumeName(path)
		return volume + string(filepath.Separator), strings.Split(filepath.ToSlash(path[len(volume):]), "/")
	}
	at, rest := begin(path)
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		p.name(at, name)
		next := filepath.Join(at, name)
		target, err := os.Readlink(next)
		if err != nil || links == maxLinks { // it is no link, or does not exist
			at = next
			continue
		}
		links++
		if filepath.IsAbs(target) {
			var way []string
			at, way = begin(target)
			rest = append(way, rest...)
			continue
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return at
}

// matter reports whether it matters that something happened to a file or folder. Of places that are not known it does:
// a folder may have been renamed a moment ago.
func (p places) matter(name string) bool {
	if names, known := p[name]; known && names == nil {
		return true
	}
	names, known := p[filepath.Dir(name)]
	return !known || names == nil || names[filepath.Base(name)]
}
