//go:build unix && !linux

package testcluster

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// dieWithParent does nothing: only Linux has a parent-death signal. A killed test leaves its cluster behind here.
func dieWithParent(*syscall.SysProcAttr) {}

// processStart is the start time of a process as ps tells it.
func processStart(pid int) (string, error) {
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", err
	}
	if started := strings.TrimSpace(string(out)); started != "" {
		return started, nil
	}
	return "", errors.New("the process has ended")
}

func baseFolder() string { return os.TempDir() }
