// Package watch tells when files and folders may have changed, without looking at them again and again.
//
// It watches folders, never files: editors and deployments replace files by renaming others over them, and a watch of a
// file stays with the one that went. What leads to a path is watched too, as far as it concerns the path: the folders
// above it, and the links in it, wherever they are (Kubernetes changes a mounted ConfigMap by exchanging the link
// ..data).
package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Changes come in bursts, and files are written in steps. Whoever watches is told when nothing has happened for quiet,
// or has been happening for longest.
const (
	quiet   = 50 * time.Millisecond
	longest = time.Second
)

// A Watcher watches some paths.
type Watcher struct {
	paths   []string
	notify  *fsnotify.Watcher
	changed chan struct{}
	done    chan struct{}

	mu     sync.Mutex
	places places

	again atomic.Bool
}

// New returns a watcher of files and folders. It watches nothing before Follow.
func New(paths []string) (*Watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching for changes: %w", explain(err))
	}
	w := &Watcher{paths: paths, notify: notify, changed: make(chan struct{}, 1), done: make(chan struct{})}
	go w.run()
	return w, nil
}

// Changed tells that something may have changed since Follow was called.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Again reports whether something has happened since the last change was told that will be told as another one. What
// was read meanwhile may be half of it, such as a folder between the two renames of an editor that keeps the former
// file. Where it is never quiet, half of a change is all that there is, and Again is false.
func (w *Watcher) Again() bool { return w.again.Load() }

// Close ends watching.
func (w *Watcher) Close() error {
	err := w.notify.Close()
	<-w.done
	return err
}

// maxRounds bounds how often Follow looks; where folders come faster than that, another change will be told soon.
const maxRounds = 10

// Follow watches what the paths lead to now. Of what is read after it no change is missed. It is called again after
// each change, which may have brought folders and links.
func (w *Watcher) Follow() error {
	var before []string
	for range maxRounds {
		next := placesOf(w.paths)
		w.mu.Lock()
		old := w.places
		w.places = next
		w.mu.Unlock()
		if err := w.move(old, next); err != nil {
			return err
		}
		// Every folder has to have been watched when it was listed.
		now := slices.Sorted(maps.Keys(next))
		if slices.Equal(before, now) {
			return nil
		}
		before = now
	}
	return nil
}

// move watches the next places instead of the old ones. Those that stay are watched again, since another folder may
// have got the name; it costs a system call.
func (w *Watcher) move(old, next places) error {
	for dir := range old {
		if _, stays := next[dir]; !stays {
			if err := w.notify.Remove(dir); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) &&
				!errors.Is(err, syscall.EINVAL) {
				return fmt.Errorf("watching for changes: leaving %s: %w", dir, err)
			}
		}
	}
	for dir := range next {
		err := w.notify.Add(dir)
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
			// What is above it tells when it comes; and who may not read it is told so when reading.
		default:
			return fmt.Errorf("watching %s for changes: %w", dir, explain(err))
		}
	}
	return nil
}

// explain adds the way out to errors that do not say what there is too little of.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf(
			"%w (on Linux: too many folders are watched by this user; raise the sysctl fs.inotify.max_user_watches)", err)
	case errors.Is(err, syscall.EMFILE):
		return fmt.Errorf(
			"%w (on Linux: too many programs of this user watch files; raise the sysctl fs.inotify.max_user_instances)", err)
	}
	return err
}

// run gathers what happens until it is quiet.
func (w *Watcher) run() {
	defer close(w.done)
	settled, latest := time.NewTimer(quiet), time.NewTimer(longest)
	settled.Stop()
	latest.Stop()
	waiting, calm := false, true
	for {
		matters, fire := false, false
		select {
		case event, open := <-w.notify.Events:
			if !open {
				return
			}
			matters = w.matters(event.Name)
		case _, open := <-w.notify.Errors:
			if !open {
				return
			}
			matters = true // most likely there were too many events, and some are lost
		case <-settled.C:
			fire, calm = true, true
		case <-latest.C:
			fire, calm = true, false
		}
		switch {
		case fire:
			settled.Stop()
			latest.Stop()
			waiting = false
			w.again.Store(false)
			select {
			case w.changed <- struct{}{}:
			default: // it is told already
			}
		case matters:
			w.again.Store(calm)
			settled.Reset(quiet)
			if !waiting {
				waiting = true
				latest.Reset(longest)
			}
		}
	}
}

func (w *Watcher) matters(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.places.matter(name)
}
