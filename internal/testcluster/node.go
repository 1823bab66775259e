package testcluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	nodeName    = "zonefold-node"
	nodeLog     = "node" // the name of the first process, and of its log
	pauseName   = "pause"
	pauseImage  = "docker.io/zonefold/pause:" + pauseVersion
	importReady = "io.cri-containerd.image=managed" // containerd's label on an image that kubelet can see
)

// A Node is the real node of a cluster: containerd, kubelet and kube-proxy in namespaces of their own, behind a pair of
// virtual interfaces. Addresses of its pods and Services answer on the host.
type Node struct {
	dir  string
	init *process // first process of the node's namespaces: everything in them ends with it
	net  nodeNet
}

// nodeState is what a later program needs in order to use and end a node.
type nodeState struct {
	Dir   string   `json:"dir"`
	Init  *process `json:"init"`
	Index int      `json:"index"`
}

func (n *Node) state() *nodeState {
	if n == nil {
		return nil
	}
	return &nodeState{Dir: n.dir, Init: n.init, Index: n.net.index}
}

func (s *nodeState) node() *Node {
	if s == nil {
		return nil
	}
	return &Node{dir: s.Dir, init: s.Init, net: nodeNet{index: s.Index}}
}

// Name is the name of the Node object.
func (n *Node) Name() string { return nodeName }

// Address is the node's address, which the host reaches; node ports answer there.
func (n *Node) Address() netip.Addr { return n.net.node() }

// HostAddress is the address of the host that pods reach: the API server listens there, and a test may too.
func (n *Node) HostAddress() netip.Addr { return n.net.host() }

// Command prepares a program to run inside the node's namespaces, such as nft or ctr.
func (n *Node) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	words := n.inside(program, args...)
	return exec.CommandContext(ctx, words[0], words[1:]...)
}

// inside is the command line that runs a program in the node. With --pid, nsenter stays outside as its parent.
func (n *Node) inside(program string, args ...string) []string {
	return append([]string{"nsenter", "--target", strconv.Itoa(n.init.Pid), "--mount", "--net", "--pid", "--", program},
		args...)
}

func (n *Node) file(name string) string { return filepath.Join(n.dir, name) }

// Import loads images from archives in OCI's or Docker's format. A pod names them as they are named in the archive,
// with a tag other than "latest" or with imagePullPolicy Never or IfNotPresent: there is no registry to ask.
func (n *Node) Import(ctx context.Context, archives ...string) error {
	for _, archive := range archives {
		if err := n.importArchive(ctx, archive); err != nil {
			return fmt.Errorf("importing the images of %s: %w", archive, err)
		}
	}
	return nil
}

func (n *Node) importArchive(ctx context.Context, archive string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	load := n.Command(ctx, "ctr", "--namespace", "k8s.io", "images", "import", "-")
	load.Stdin = file
	out, err := output(load)
	if err != nil {
		return err
	}
	names := importedNames(out)
	if len(names) == 0 {
		return errors.New("the archive names no image (annotation io.containerd.image.name or " +
			"org.opencontainers.image.ref.name with repository and tag)")
	}
	for _, name := range names {
		full := fullName(name)
		if full != name {
			if _, err := n.ctr(ctx, "images", "tag", "--force", name, full); err != nil {
				return err
			}
		}
		if err := n.awaitImage(ctx, full); err != nil {
			return err
		}
	}
	return nil
}

// awaitImage waits until kubelet can find an image: containerd tells its Kubernetes half of it a moment later.
func (n *Node) awaitImage(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, errTooLong)
	defer cancel()
	var last error
	err := until(ctx, func() bool {
		var list string
		list, last = n.ctr(ctx, "images", "list", "name=="+name)
		return last != nil || strings.Contains(list, importReady)
	})
	return errors.Join(err, last)
}

func (n *Node) ctr(ctx context.Context, args ...string) (string, error) {
	return output(n.Command(ctx, "ctr", append([]string{"--namespace", "k8s.io"}, args...)...))
}

// importedNames reads what "ctr images import" prints: "unpacking NAME (DIGEST)...done" for each image.
func importedNames(out string) []string {
	var names []string
	for lines := bufio.NewScanner(strings.NewReader(out)); lines.Scan(); {
		rest, unpacked := strings.CutPrefix(lines.Text(), "unpacking ")
		if name, _, ok := strings.Cut(rest, " "); unpacked && ok && !strings.HasPrefix(name, "import-") {
			names = append(names, name)
		}
	}
	return names
}

// fullName is how kubelet asks for an image whose name has no registry.
func fullName(name string) string {
	host, _, path := strings.Cut(name, "/")
	switch {
	case !path:
		return "docker.io/library/" + name
	case strings.ContainsAny(host, ".:") || host == "localhost":
		return name
	}
	return "docker.io/" + name
}

// ready says whether the node can run pods.
func (c *Cluster) nodeReady(ctx context.Context) error {
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string } `json:"conditions"`
		} `json:"status"`
	}
	if err := c.ask(ctx, http.MethodGet, c.server+"/api/v1/nodes/"+nodeName, nil, &node); err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == "Ready" && condition.Status != "True" {
			return errors.New(condition.Message)
		}
	}
	if !slices.ContainsFunc(node.Status.Conditions, func(s struct{ Type, Status, Message string }) bool {
		return s.Type == "Ready"
	}) {
		return errors.New("the Node has no condition Ready yet")
	}
	return nil
}

// output runs a command. Its error holds what the command complains of.
func output(cmd *exec.Cmd) (string, error) {
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return string(out), nil
}

// writeJSON writes a configuration file.
func writeJSON(file string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", file, err)
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}
