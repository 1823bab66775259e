package move

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/zonefold/zonefold/internal/cli/draft"
)

// drafts are the files of a folder that are being written, each beside the one whose place it takes in the end. It is
// safe for concurrent use: who is interrupted discards what another goroutine still writes.
type drafts struct {
	folder string

	mu    sync.Mutex
	over  bool
	files map[string]*draftFile // by their final path
	kept  []string              // paths of files that are in their places
}

type draftFile struct {
	file *os.File
	out  *bufio.Writer
}

func newDrafts(folder string) *drafts { return &drafts{folder: folder, files: map[string]*draftFile{}} }

// errDiscarded says that nobody wants the files any more.
var errDiscarded = errors.New("the files were discarded")

// of returns the files of one name, one in the folder of each namespace.
func (d *drafts) of(name string) draft.Sink {
	return func(namespace string) (io.Writer, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		path := filepath.Join(d.folder, namespace, name)
		if f := d.files[path]; f != nil {
			return f.out, nil
		}
		if d.over {
			return nil, errDiscarded
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil { //nolint:gosec // who may read it, the umask says
			return nil, err
		}
		file, err := os.CreateTemp(filepath.Dir(path), "."+name+"-*")
		if err != nil {
			return nil, err
		}
		f := &draftFile{file, bufio.NewWriterSize(file, 1<<16)}
		d.files[path] = f
		return f.out, nil
	}
}

// keep puts all files into their places.
func (d *drafts) keep() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return errDiscarded
	}
	for _, path := range slices.Sorted(maps.Keys(d.files)) {
		f := d.files[path]
		err := errors.Join(f.out.Flush(), f.file.Chmod(0o644), f.file.Close())
		if err == nil {
			err = os.Rename(f.file.Name(), path)
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		delete(d.files, path)
		d.kept = append(d.kept, path)
	}
	return nil
}

// discard removes what is not in its place.
func (d *drafts) discard() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	for _, f := range d.files {
		_ = f.file.Close()
		_ = os.Remove(f.file.Name())
	}
}
