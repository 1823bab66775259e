package testcluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// childNode makes this test program make a node and wait to be killed.
const childNode = "ZONEFOLD_TESTCLUSTER_NODE"

// holdANode makes a node with a process that nobody waits for, says so, and waits to be killed.
func holdANode() {
	c := Cluster{log: os.Stderr}
	if err := c.prepare(context.Background(), Options{Node: true, Dir: os.Getenv(childNode)}); err != nil {
		panic(err)
	}
	if err := c.node.Command(context.Background(), "setsid", "--fork", "sleep", "600").Run(); err != nil {
		panic(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(c.node.state()); err != nil {
		panic(err)
	}
	<-c.node.init.exited
}

func TestNodeOfAKilledProgramIsClearedAway(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childNode+"="+t.TempDir())
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var s nodeState
	if err := json.Unmarshal(line, &s); err != nil {
		t.Fatal(err)
	}
	left := tracesOf(t, &Cluster{dir: filepath.Dir(s.Dir), node: s.node()})
	left.check(t, true)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := until(t.Context(), func() bool {
		_, err := net.InterfaceByName(s.node().net.link())
		return err != nil
	}); err != nil {
		t.Fatal(err)
	}
	c := Cluster{log: t.Output()}
	if err := c.prepare(t.Context(), Options{Node: true}); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	left.folder = "" // the test's own
	left.check(t, false)
}

func TestAHalfMadeClusterIsFoundAndEnded(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	c := Cluster{log: t.Output()}
	if err := c.prepare(t.Context(), Options{Node: true, Mark: link}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	left := tracesOf(t, &c)
	if err := os.Remove(c.file("admin.crt")); err != nil { // a program that was killed before had no time to write it
		t.Fatal(err)
	}
	found, err := Open(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Alive(); err == nil || !strings.Contains(err.Error(), "never started") {
		t.Errorf("what was not started to its end counts as alive: %v", err)
	}
	if err := found.Stop(); err != nil {
		t.Fatal(err)
	}
	left.check(t, false)
}

// traces are what a node has on the machine. A namespace lasts as long as its processes and mounts, that of the network
// as long as the interface to it.
type traces struct {
	node      *Node
	folder    string
	processes map[int]string // to what the kernel says of their start
}

// tracesOf finds the processes of the node's namespaces and cgroups, those of its pods included.
func tracesOf(t *testing.T, c *Cluster) traces {
	t.Helper()
	found := traces{node: c.node, folder: c.dir, processes: map[int]string{}}
	for _, pid := range pids(t) {
		if !found.belongs(pid) {
			continue
		}
		if started, err := processStart(pid); err == nil {
			found.processes[pid] = started
		}
	}
	if len(found.processes) == 0 {
		t.Error("the node has no processes")
	}
	return found
}

// belongs reports whether a process is in the node's namespace of processes or in one of its cgroups.
func (w traces) belongs(pid int) bool {
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err == nil && bytes.Contains(groups, []byte("/"+w.node.cgroup()+"/")) {
		return true
	}
	mine, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", w.node.init.Pid))
	if err != nil {
		return false
	}
	its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	return err == nil && its == mine
}

// check fails if something is left, or, where it shall be there, if nothing is.
func (w traces) check(t *testing.T, there bool) {
	t.Helper()
	for what, found := range map[string][]string{
		"processes": w.processesLeft(), "mounts": w.mounts(t),
		"interfaces and routes": w.network(t), "cgroups": w.cgroups(t), "files": w.files(),
	} {
		if wanted := there && what != "mounts" && (what != "files" || w.folder != ""); wanted != (len(found) > 0) {
			t.Errorf("%s of the node, there: %v: %v", what, there, found)
		}
	}
}

func (w traces) processesLeft() (found []string) {
	for pid, started := range w.processes {
		if now, err := processStart(pid); err == nil && now == started {
			found = append(found, strconv.Itoa(pid))
		}
	}
	return found
}

// mounts lists what the machine itself sees: nothing, at any time.
func (w traces) mounts(t *testing.T) (found []string) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, w.node.dir) {
			found = append(found, line)
		}
	}
	return found
}

func (w traces) network(t *testing.T) (found []string) {
	if _, err := net.InterfaceByName(w.node.net.link()); err == nil {
		found = append(found, w.node.net.link())
	}
	routes, err := ip(t.Context(), "-4", "route", "show", "table", "all", "root", w.node.net.block().String())
	if err != nil {
		t.Fatal(err)
	}
	return append(found, strings.Fields(routes)...)
}

func (w traces) cgroups(t *testing.T) (found []string) {
	dirs, err := hierarchies()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if group := filepath.Join(dir, w.node.cgroup()); isFolder(group) {
			found = append(found, group)
		}
	}
	return found
}

func (w traces) files() (found []string) {
	if isFolder(w.folder) {
		found = append(found, w.folder)
	}
	return found
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func pids(t *testing.T) (all []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}
