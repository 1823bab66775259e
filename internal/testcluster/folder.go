package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	folderPrefix = "zonefold-cluster-"
	lockFile     = "lock"
)

// newFolder makes the folder of one cluster and locks it. etcd inherits the lock, so the folder counts as used for as
// long as either this program or etcd lives, however they end.
func newFolder() (dir string, lock *os.File, err error) {
	base := baseFolder()
	sweep(base)
	dir, err = os.MkdirTemp(base, folderPrefix)
	if err != nil {
		return "", nil, fmt.Errorf("making the cluster's folder: %w", err)
	}
	lock, err = lockFolder(dir)
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, lock, nil
}

// lockFolder takes the lock of a cluster's folder, or says that a cluster runs there.
func lockFolder(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the cluster's folder: %w", err)
	}
	if !tryLock(file) {
		file.Close()
		return nil, fmt.Errorf("a cluster runs in %s already; end it first", dir)
	}
	return file, nil
}

// sweep removes the folders of clusters that were killed without a chance to do it themselves: they may be in memory.
// Another user's cannot be opened and stay. A folder younger than a minute may not have been locked yet.
func sweep(base string) {
	found, err := filepath.Glob(filepath.Join(base, folderPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if lock, err := lockFolder(dir); err == nil {
			os.RemoveAll(dir)
			lock.Close()
		}
	}
}

// tryLock takes a file's lock if it is free. Closing every descriptor of the opened file frees it.
func tryLock(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// reuseFolder takes a folder that the caller chose and removes the data of a cluster that ran there before.
func reuseFolder(dir string) (string, *os.File, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", nil, fmt.Errorf("finding the cluster's folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("making the cluster's folder: %w", err)
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return "", nil, err
	}
	if err := os.RemoveAll(filepath.Join(dir, etcdName)); err != nil {
		return "", nil, fmt.Errorf("removing the data of an earlier cluster: %w", err)
	}
	return dir, lock, nil
}

// mark makes a symbolic link to a cluster's folder, in place of one to an earlier cluster.
func mark(dir, link string) error {
	if link == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", link, err)
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing the mark of an earlier cluster: %w", err)
	}
	if err := os.Symlink(dir, link); err != nil {
		return fmt.Errorf("marking the cluster's folder: %w", err)
	}
	return nil
}

// waitForLock holds a file lock, which the kernel frees with the process that held it. It calls waiting once if
// somebody else has the lock.
func waitForLock(ctx context.Context, path string, waiting func(path string)) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening a lock: %w", err)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for said := false; !tryLock(file); said = true {
		if !said {
			waiting(path)
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
	return func() { file.Close() }, nil
}
