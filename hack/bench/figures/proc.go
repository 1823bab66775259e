// Package figures is what the benchmarks share: what a process used, percentiles of times, and the table that is
// printed.
package figures

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticks is the unit of CPU time in /proc, a hundredth of a second on every Linux (USER_HZ).
const ticks = 10 * time.Millisecond

// Rows of CPUTimes that are no programs.
const (
	// Ended is what this program has started and waited for, such as kubectl.
	Ended = "ended ones"
	// Others is whatever else the machine runs.
	Others = "others"
)

// CPUTimes returns the CPU time, user and system together, that this program and all that it has started have used, by
// name, and what the rest of the machine has used. Unlike seconds on the wall the former say the same on a machine that
// does other things too.
func CPUTimes() (map[string]time.Duration, error) {
	out := map[string]time.Duration{}
	busy, err := machine()
	if err != nil {
		return nil, err
	}
	all, err := processes()
	for _, p := range all {
		if isBelow(all, p, os.Getpid()) {
			out[p.name] += p.cpu
			out[Ended] += p.ended
			busy -= p.cpu + p.ended
		}
	}
	out[Others] = busy
	return out, err
}

// machine is how long the processors of the machine have not been idle, by the first line of proc_stat(5).
func machine() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	var busy int64
	for _, i := range []int{1, 2, 3, 6, 7} { // user, nice, system, irq, softirq
		if i >= len(fields) {
			return 0, fmt.Errorf("too few fields in %q of /proc/stat", line)
		}
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading /proc/stat: %w", err)
		}
		busy += n
	}
	return time.Duration(busy) * ticks, nil
}

// PIDs are the processes with a name that this program has started, also through others.
func PIDs(name string) ([]int, error) {
	var out []int
	all, err := processes()
	for _, p := range all {
		if p.name == name && isBelow(all, p, os.Getpid()) {
			out = append(out, p.pid)
		}
	}
	return out, err
}

// isBelow reports whether a process is another one, or was started by it or by what it started.
func isBelow(all map[int]stat, p stat, pid int) bool {
	for range all {
		parent, ok := all[p.parent]
		if p.pid == pid || !ok {
			break
		}
		p = parent
	}
	return p.pid == pid
}

// processes are all of this machine, by their id.
func processes() (map[int]stat, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	out := map[int]stat{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		p, err := parseStat(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out[p.pid] = p
	}
	return out, nil
}

// CPUOf returns the CPU time that a process and those that it has started have used.
func CPUOf(pid int) (sum time.Duration, err error) {
	all, err := processes()
	if _, ok := all[pid]; !ok && err == nil {
		err = fmt.Errorf("there is no process %d", pid)
	}
	for _, p := range all {
		if isBelow(all, p, pid) {
			sum += p.cpu
		}
	}
	return sum, err
}

// Load returns the load of the machine in the last minute, as the kernel writes it.
func Load() (string, error) {
	text, err := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(text), " ")
	return load, err
}

// stat is what matters of a line in proc_pid_stat(5).
type stat struct {
	name        string
	pid, parent int
	cpu         time.Duration
	ended       time.Duration // of children that it has waited for
}

func parseStat(text []byte) (stat, error) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')') // a name may hold anything
	if open < 0 || end < open {
		return stat{}, fmt.Errorf("no name in %q", text)
	}
	fields := strings.Fields(string(text[:open]) + string(text[end+1:]))
	if len(fields) < 16 {
		return stat{}, fmt.Errorf("too few fields in %q", text)
	}
	s := stat{name: string(text[open+1 : end])}
	var user, system, endedUser, endedSystem int64
	for _, f := range []struct {
		at   int
		into func(int64)
	}{
		{0, func(n int64) { s.pid = int(n) }}, {2, func(n int64) { s.parent = int(n) }},
		{12, func(n int64) { user = n }}, {13, func(n int64) { system = n }},
		{14, func(n int64) { endedUser = n }}, {15, func(n int64) { endedSystem = n }},
	} {
		n, err := strconv.ParseInt(fields[f.at], 10, 64)
		if err != nil {
			return stat{}, err
		}
		f.into(n)
	}
	s.cpu, s.ended = time.Duration(user+system)*ticks, time.Duration(endedUser+endedSystem)*ticks
	return s, nil
}

// MemoryOf returns the resident memory of a process now and at its highest, in octets.
func MemoryOf(pid int) (now, peak int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			now = kib << 10
		case "VmHWM":
			peak = kib << 10
		}
	}
	return now, peak, nil
}
