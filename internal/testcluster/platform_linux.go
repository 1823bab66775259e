package testcluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// memoryFolder is where Linux keeps files in memory; enough of it is free when a zone of 100,000 records fits.
const (
	memoryFolder    = "/dev/shm"
	memoryFolderMin = 4 << 30
)

// dieWithParent has the kernel end the child when the thread that started it ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// processStart is the boot-relative start time of a process, field 22 of proc_pid_stat(5).
// A process that has ended but was not waited for (state Z) counts as gone.
func processStart(pid int) (string, error) {
	fields, err := processStat(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	if len(fields) < 20 || fields[0] == "Z" {
		return "", fmt.Errorf("process %d has ended", pid)
	}
	return fields[19], nil
}

// processStat are the fields of a file of proc_pid_stat(5) from the third on.
func processStat(file string) ([]string, error) {
	stat, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])), nil // the name before it may hold anything
}

// children are the processes that one has started.
func children(parent int) (pids []int, err error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if fields, err := processStat(file); err != nil || len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue // somebody else, or ended just now
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// baseFolder is where clusters put their folders: in memory when there is room, so that no fsync costs anything.
func baseFolder() string {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memoryFolder, &fs); err == nil && fs.Bavail*uint64(fs.Bsize) >= memoryFolderMin {
		return memoryFolder
	}
	return os.TempDir()
}
