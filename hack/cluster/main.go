// Command cluster builds, starts and ends a Kubernetes control plane on loopback for people: the same one that the
// tests use.
//
//	go run ./hack/cluster build    compile the components into the user's cache folder, about ten minutes the first time
//	go run ./hack/cluster up       build what is missing, start, and return; flags: -crd PATH (repeatable),
//	                               -node for a real node too, -image PATH (repeatable) for an archive of images on it
//	eval "$(go run ./hack/cluster env)"    point kubectl at it
//	go run ./hack/cluster down     end it and remove its data
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/zonefold/zonefold/internal/testcluster"
)

const usage = "usage: go run ./hack/cluster build | up [-crd PATH]... [-node [-image ARCHIVE]...] | env | down"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// run carries out one command. Only what a shell evaluates goes to out.
func run(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	link, err := currentLink()
	if err != nil {
		return err
	}
	switch command, rest := args[0], args[1:]; {
	case command == "up":
		return up(ctx, link, rest, log)
	case len(rest) > 0:
		return fmt.Errorf("%s takes no arguments; %s", command, usage)
	case command == "build":
		return testcluster.Build(ctx, log)
	case command == "env":
		return env(link, out)
	case command == "down":
		return down(link, log)
	}
	return errors.New(usage)
}

// currentLink is where people find the cluster that "up" started, wherever its folder is.
func currentLink() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's cache folder (set HOME or XDG_CACHE_HOME): %w", err)
	}
	return filepath.Join(cache, "zonefold", "cluster"), nil
}

func up(ctx context.Context, link string, args []string, log io.Writer) error {
	opts := testcluster.Options{Log: log, ControllerManager: true, Detach: true, Mark: link}
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	flags.Func("crd", "apply CustomResourceDefinitions from this file or folder (repeatable)", func(path string) error {
		opts.CRDs = append(opts.CRDs, path)
		return nil
	})
	flags.BoolVar(&opts.Node, "node", false,
		"start a real node too; needs Linux, root and what hack/prerequisites installs")
	flags.Func("image", "load the images of this archive, in OCI's or Docker's format, onto the node (repeatable)",
		func(path string) error {
			opts.Images = append(opts.Images, path)
			return nil
		})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if old, err := testcluster.Open(link); err == nil {
		if ended := old.Alive(); ended == nil {
			fmt.Fprintf(log, "a control plane runs already at %s\n", old.Server())
			return add(ctx, old, opts)
		}
		fmt.Fprintln(log, "what is left of an earlier control plane is ended first")
		if err := down(link, log); err != nil {
			return err
		}
	}
	if _, err := testcluster.Start(ctx, opts); err != nil {
		return err
	}
	fmt.Fprintln(log, `use it:  eval "$(go run ./hack/cluster env)"; kubectl get namespaces`)
	return nil
}

// add gives a running control plane what the flags of another "up" ask for.
func add(ctx context.Context, c *testcluster.Cluster, opts testcluster.Options) error {
	node := c.Node()
	switch {
	case node == nil && (opts.Node || len(opts.Images) > 0):
		return errors.New("it has no node, and none can be added; end it first, with: go run ./hack/cluster down")
	case node != nil:
		if err := node.Import(ctx, opts.Images...); err != nil {
			return err
		}
	}
	return c.InstallCRDs(ctx, opts.CRDs...)
}

func env(link string, out io.Writer) error {
	c, err := testcluster.Open(link)
	if errors.Is(err, os.ErrNotExist) {
		return errors.New("no control plane runs; start one with: go run ./hack/cluster up")
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "export KUBECONFIG=%s\nexport PATH=%s:\"$PATH\"\n", quote(c.Kubeconfig()),
		quote(filepath.Dir(c.Kubectl())))
	return nil
}

func down(link string, log io.Writer) error {
	c, err := testcluster.Open(link)
	if errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(log, "no control plane runs")
		return nil
	}
	if err != nil {
		return err
	}
	if err := c.Stop(); err != nil {
		return err
	}
	fmt.Fprintln(log, "the control plane is ended and its data removed")
	return os.Remove(link)
}

// quote makes one word for a POSIX shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
