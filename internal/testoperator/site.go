package testoperator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zonefold/zonefold/internal/testcluster"
)

// A Site is a control plane with the operator beside it, which has the rights that the chart gives it and no others.
type Site struct {
	Dir      string // for files; it is gone after Close
	Cluster  *testcluster.Cluster
	Operator *Process
	Log      Journal // the operator's
}

// SiteOptions say what is at a Site.
type SiteOptions struct {
	Values  string   // of the chart, as of --set
	Objects string   // to apply before the operator starts
	Args    []string // flags of the operator
}

// StartSite starts everything and does not wait for the operator.
func StartSite(ctx context.Context, o SiteOptions) (*Site, error) {
	s := &Site{}
	if err := s.start(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Site) start(ctx context.Context, o SiteOptions) (err error) {
	if s.Dir, err = os.MkdirTemp("", "zonefold-site-"); err != nil {
		return err
	}
	program, err := Build(ctx, s.Dir)
	if err != nil {
		return err
	}
	root, err := ModuleRoot(ctx)
	if err != nil {
		return err
	}
	s.Cluster, err = testcluster.Start(ctx, testcluster.Options{CRDs: []string{filepath.Join(root, "config", "crd")}})
	if err != nil {
		return err
	}
	kubeconfig, err := InstallRights(ctx, s.Cluster, o.Values)
	if err != nil {
		return err
	}
	if err := s.Apply(ctx, o.Objects); err != nil {
		return err
	}
	s.Operator, err = Start(Options{Path: program, Kubeconfig: kubeconfig, Args: o.Args, Log: &s.Log, NoElection: true})
	return err
}

// Apply applies objects in YAML.
func (s *Site) Apply(ctx context.Context, objects string) error {
	_, err := s.Cluster.RunKubectlInput(ctx, strings.NewReader(objects), "apply", "-f", "-")
	return err
}

// Close ends everything.
func (s *Site) Close() (err error) {
	if s.Operator != nil {
		s.Operator.Stop()
	}
	if s.Cluster != nil {
		err = s.Cluster.Stop()
	}
	return errors.Join(err, os.RemoveAll(s.Dir))
}

// InstallRights gives a cluster the operator's ServiceAccount with the rights, and the policies about them, that the
// chart gives with some values, and returns a kubeconfig that speaks as it.
func InstallRights(ctx context.Context, c *testcluster.Cluster, values string) (kubeconfig string, err error) {
	chart, err := Template(ctx, values, "serviceaccount.yaml", "rbac.yaml", "policies.yaml")
	if err != nil {
		return "", err
	}
	space := fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n---\n", Namespace)
	if _, err := c.RunKubectlInput(ctx, strings.NewReader(space+chart), "apply", "-f", "-"); err != nil {
		return "", fmt.Errorf("installing the operator's rights: %w", err)
	}
	return c.KubeconfigFor(ctx, Namespace, ServiceAccount)
}
