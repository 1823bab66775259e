package testcluster

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const stateFile = "cluster.json"

// state is what a later program needs in order to use and end a detached cluster.
type state struct {
	Node      *nodeState `json:"node,omitempty"`
	Server    string     `json:"server"`
	Made      bool       `json:"made"`
	Whole     bool       `json:"whole"`
	Processes []*process `json:"processes"`
}

// save writes the state for [Open].
func (c *Cluster) save() error {
	text, err := json.MarshalIndent(state{Node: c.node.state(), Server: c.server, Made: c.made, Whole: c.whole,
		Processes: c.running}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the cluster's state: %w", err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, stateFile), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the cluster's state: %w", err)
	}
	return nil
}

// Open finds the cluster that a program started in dir with [Options.Detach]. The error is [os.ErrNotExist] if there is
// none. Such a cluster can be used and stopped; its API server can be restarted only by the program that started it.
func Open(dir string) (*Cluster, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return nil, err
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("reading the state of the cluster in %s: %w", dir, err)
	}
	c := &Cluster{dir: dir, made: s.Made, whole: s.Whole, log: io.Discard, server: s.Server, node: s.Node.node(),
		running: s.Processes}
	if c.programs, err = programs(); err != nil {
		return nil, err
	}
	if c.admin, err = adminClient(dir); err != nil && s.Whole {
		return nil, err
	}
	return c, nil
}

// Alive returns an error that names the first component which does not run any more, or says that not all were started.
func (c *Cluster) Alive() error {
	if !c.whole {
		return fmt.Errorf("the cluster in %s was never started to its end", c.dir)
	}
	all := c.running
	if c.node != nil {
		all = append([]*process{c.node.init}, all...)
	}
	for _, p := range all {
		if !p.alive() {
			return fmt.Errorf("%s (process %d) has ended; the last lines of %s:\n%s", p.Name, p.Pid, p.LogFile, p.tail())
		}
	}
	return nil
}
