//go:build unix

package hook

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock of a file, or reports that somebody else has it. The kernel frees it when the file is closed,
// however the process ends.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
