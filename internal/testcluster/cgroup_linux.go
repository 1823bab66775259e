package testcluster

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	cgroupMount  = "/sys/fs/cgroup"
	cgroupPrefix = "zonefold-node-"
)

// cgroup is the name, in every hierarchy, of the group that holds those of the node's pods.
func (n *Node) cgroup() string { return cgroupPrefix + strconv.Itoa(n.net.index) }

// hierarchies lists where cgroups are mounted: one folder for version 2, one for each controller for version 1.
func hierarchies() ([]string, error) {
	if _, err := os.Stat(filepath.Join(cgroupMount, "cgroup.controllers")); err == nil {
		return []string{cgroupMount}, nil
	}
	marks, err := filepath.Glob(filepath.Join(cgroupMount, "*", "cgroup.procs"))
	if err != nil || len(marks) == 0 {
		return nil, fmt.Errorf("no cgroups are mounted below %s: %w", cgroupMount, errors.Join(err, fs.ErrNotExist))
	}
	var dirs []string
	for _, mark := range marks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(mark)) // "cpu" may be a link to "cpu,cpuacct"
		if err != nil {
			return nil, fmt.Errorf("looking for cgroups: %w", err)
		}
		if filepath.Base(dir) != "unified" { // the node does not see it
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs), nil
}

// shares is what the pods together get of busy processors, in versions 1 and 2 of cgroups: 8 times as much as all other
// processes of the session. They need a tenth of the machine's time. With the usual share (1024, 100) a server waits
// for a turn for seconds, as it does on no node that systemd divides up, and looks like one that loses a question.
var shares = map[string]string{"cpu.shares": "8192", "cpu.weight": "800"}

// makeCgroups makes a group in every hierarchy, without what an earlier one of that name left.
func makeCgroups(name string) error {
	if err := removeCgroups(name); err != nil {
		return err
	}
	dirs, err := hierarchies()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		group := filepath.Join(dir, name)
		if err := os.Mkdir(group, 0o755); err != nil {
			return fmt.Errorf("making a cgroup: %w", err)
		}
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} { // version 1 admits no process where these are empty
			value, err := os.ReadFile(filepath.Join(dir, file))
			if errors.Is(err, fs.ErrNotExist) || dir == cgroupMount {
				continue
			}
			if err := errors.Join(err, os.WriteFile(filepath.Join(group, file), value, 0o644)); err != nil {
				return fmt.Errorf("making a cgroup: %w", err)
			}
		}
		for file, weight := range shares {
			err := os.WriteFile(filepath.Join(group, file), []byte(weight), 0o644)
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
				return fmt.Errorf("giving a cgroup its share of the processors: %w", err)
			}
		}
	}
	return nil
}

// removeCgroups removes a group and those below it from every hierarchy. None of them may hold a process.
func removeCgroups(name string) error {
	dirs, err := hierarchies()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := removeCgroup(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func removeCgroup(dir string) error {
	var groups []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			groups = append(groups, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("looking for cgroups: %w", err)
	}
	for _, group := range slices.Backward(groups) {
		if err := os.Remove(group); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing a cgroup: %w", err)
		}
	}
	return nil
}

// sweepCgroups removes the groups of nodes that were killed without a chance to do it themselves: the network of such a
// node is gone. What still holds a process is left for the next time.
func sweepCgroups() {
	dirs, err := hierarchies()
	if err != nil {
		return
	}
	for _, dir := range dirs {
		groups, err := filepath.Glob(filepath.Join(dir, cgroupPrefix+"*"))
		if err != nil {
			return
		}
		for _, group := range groups {
			index := strings.TrimPrefix(filepath.Base(group), cgroupPrefix)
			if _, err := net.InterfaceByName(linkPrefix + index); err != nil {
				_ = removeCgroup(group)
			}
		}
	}
}
