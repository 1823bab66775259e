package testcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	kubeconfigFile = "kubeconfig"
	startAttempts  = 3                // until none of the ports was taken in between
	readyWithin    = 90 * time.Second // for one component; seconds are usual, a machine busy with compiling needs more
	endWithin      = 30 * time.Second // for what was killed to be gone
)

// Options say what Start starts.
type Options struct {
	// Dir holds data, certificates and logs; what an earlier cluster left there is removed. Empty means a new folder, in
	// memory where there is room, which Stop removes.
	Dir string
	// Log receives one line for each step. Nil means none.
	Log io.Writer
	// ControllerManager starts kube-controller-manager too: garbage collection by ownerReferences, the end of namespaces,
	// Deployments and default ServiceAccounts need it.
	ControllerManager bool
	// NodeGrace is after how long without word of its kubelet kube-controller-manager takes a node for lost. 0 means ten
	// minutes: who has one real node and kills the API server, or has a busy machine, has not lost it.
	NodeGrace time.Duration
	// Node starts a real node too, with kube-scheduler, and implies ControllerManager. It needs Linux, root and what
	// hack/prerequisites installs.
	Node bool
	// Images are archives in OCI's or Docker's format whose images the node has from the beginning.
	Images []string
	// CRDs are folders and files with CustomResourceDefinitions to apply; Start returns when all of them are served.
	CRDs []string
	// APIServerFlags are added to those of kube-apiserver and win over them.
	APIServerFlags []string
	// GCPercent is GOGC of the components; 0 for Go's own, with which a benchmark measures.
	GCPercent int
	// Detach lets the cluster outlive this program; [Open] finds it again. Otherwise the kernel (on Linux) ends it with
	// the program.
	Detach bool
	// Mark is a symbolic link to make to the cluster's folder before anything runs in it, so that even what a killed
	// program began can be found and ended. Empty means none.
	Mark string
}

// A Cluster is one running control plane.
type Cluster struct {
	dir      string
	made     bool // Start made dir, so Stop removes it
	lock     *os.File
	log      io.Writer
	admin    *http.Client // nil if a killed program got no further
	server   string       // https://127.0.0.1:<port>
	programs map[string]string
	running  []*process // in the order of their start
	api      launch
	kubelet  launch
	env      []string
	node     *Node // nil without one
	whole    bool  // Start came to its end
}

// Start builds what is missing and starts etcd, kube-apiserver and, if asked to, kube-controller-manager on free
// loopback ports. When it returns, the API server is ready, every CRD is served and the default ServiceAccount exists
// where something makes it.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	if len(opts.Images) > 0 && !opts.Node {
		return nil, fmt.Errorf("there is no node to load the images of %s onto; ask for a node too",
			strings.Join(opts.Images, ", "))
	}
	opts.ControllerManager = opts.ControllerManager || opts.Node
	if err := build(ctx, opts.Log, opts.Node); err != nil {
		return nil, err
	}
	c := &Cluster{log: opts.Log}
	if opts.GCPercent > 0 {
		c.env = []string{"GOGC=" + strconv.Itoa(opts.GCPercent)}
	}
	began := time.Now()
	if err := c.prepare(ctx, opts); err != nil {
		return nil, err
	}
	if err := c.startAll(ctx, opts); err != nil {
		err = fmt.Errorf("starting a control plane: %w", err)
		return nil, errors.Join(err, c.Stop())
	}
	fmt.Fprintf(c.log, "the control plane answers at %s after %s\n", c.server, time.Since(began).Round(time.Millisecond))
	return c, nil
}

// prepare makes the folder with fresh keys in it, and the place of the node.
func (c *Cluster) prepare(ctx context.Context, opts Options) (err error) {
	if c.programs, err = programs(); err != nil {
		return err
	}
	if c.made = opts.Dir == ""; c.made {
		c.dir, c.lock, err = newFolder()
	} else {
		c.dir, c.lock, err = reuseFolder(opts.Dir)
	}
	if err != nil {
		return err
	}
	if err := c.fill(ctx, opts); err != nil {
		return errors.Join(err, c.Stop())
	}
	return nil
}

func (c *Cluster) fill(ctx context.Context, opts Options) (err error) {
	if err := mark(c.dir, opts.Mark); err != nil {
		return err
	}
	var addresses []net.IP
	if opts.Node {
		if err := c.makeNode(ctx, opts); err != nil {
			return err
		}
		addresses = []net.IP{c.node.net.host().AsSlice(), c.node.net.api().AsSlice()}
	}
	if err := newPKI(c.dir, addresses); err != nil {
		return err
	}
	c.admin, err = adminClient(c.dir)
	return err
}

func (c *Cluster) startAll(ctx context.Context, opts Options) error {
	for attempt := 1; ; attempt++ {
		err := c.startServers(ctx, opts)
		if err == nil {
			break
		}
		if !portTaken(err) || attempt == startAttempts {
			return err
		}
		fmt.Fprintln(c.log, "a port was taken in between; trying others")
		if err := c.end(); err != nil {
			return err
		}
	}
	if err := c.writeKubeconfigs(); err != nil {
		return err
	}
	if opts.ControllerManager {
		if err := c.run(c.controllerManagerFlags(opts)); err != nil {
			return err
		}
	}
	if err := c.InstallCRDs(ctx, opts.CRDs...); err != nil {
		return err
	}
	if opts.ControllerManager {
		if err := c.controllerManagerReady(ctx); err != nil {
			return err
		}
	}
	if opts.Node {
		if err := c.runNode(ctx, opts); err != nil {
			return fmt.Errorf("starting a node: %w", err)
		}
	}
	c.whole = true
	return c.save()
}

// run starts a component and remembers it for Stop.
func (c *Cluster) run(l launch) error {
	l.env = c.env
	p, err := start(l)
	if err != nil {
		return err
	}
	c.running = append(c.running, p)
	return c.save() // at once, so that "down" ends even what a killed "up" began
}

// Dir is the cluster's folder, with a log file for each component.
func (c *Cluster) Dir() string { return c.dir }

// Server is the address of the API server, https://127.0.0.1:<port>.
func (c *Cluster) Server() string { return c.server }

// Node is the cluster's node, or nil if it was started without.
func (c *Cluster) Node() *Node { return c.node }

// Kubeconfig is the path of the administrator's kubeconfig (group system:masters, which no RBAC rule limits).
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, kubeconfigFile) }

// Kubectl is the path of the kubectl of the cluster's release.
func (c *Cluster) Kubectl() string { return c.programs[kubectlName] }

// Stop ends every component by process id, the last started first, and removes the folder if Start made it.
func (c *Cluster) Stop() error {
	var err error
	if c.node != nil {
		err = c.node.stop(c)
	}
	err = errors.Join(err, c.end())
	if err == nil && c.made {
		err = os.RemoveAll(c.dir)
	}
	if c.lock != nil {
		c.lock.Close()
	}
	return err
}

// end ends the components. One that does not end stays in the list, so that another Stop tries again.
func (c *Cluster) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	for len(c.running) > 0 {
		last := len(c.running) - 1
		if err := c.running[last].kill(ctx); err != nil {
			return err
		}
		c.running = c.running[:last]
	}
	return nil
}

// process finds a running component.
func (c *Cluster) process(name string) *process {
	for _, p := range c.running {
		if p.Name == name {
			return p
		}
	}
	return nil
}
