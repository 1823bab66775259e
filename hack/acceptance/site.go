package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// where says how to reach what runs.
type where struct {
	Kubeconfig         string `json:"kubeconfig"`         // of the administrator
	OperatorKubeconfig string `json:"operatorKubeconfig"` // of the operator's ServiceAccount
	OperatorNamespace  string `json:"operatorNamespace"`
	Operator           string `json:"operator"`  // the binary
	Admission          string `json:"admission"` // where the API server asks the operator: host:port
	Webhooks           string `json:"webhooks"`  // a file with the configuration that has it do so
	BIND               string `json:"bind"`      // host:port
	TSIGName           string `json:"tsigName"`
	TSIGSecret         string `json:"tsigSecret"`
	PowerDNS           string `json:"powerdns"` // host:port
	PowerDNSURL        string `json:"powerdnsURL"`
	PowerDNSKey        string `json:"powerdnsKey"`
	AWS                string `json:"aws"` // URL of what behaves as Route 53
}

// A site is what runs.
type site struct {
	log    io.Writer
	values string
	zones  []string

	where    where
	dir      string
	cluster  *testcluster.Cluster
	bind     *nameserver.Server
	powerdns *nameserver.PowerDNS
	aws      *cloud
}

func (s *site) start(ctx context.Context) error {
	var err error
	if s.dir, err = os.MkdirTemp("", "zonefold-acceptance-"); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	for _, step := range []func(context.Context) error{s.startServers, s.startCluster, s.installRights, s.build} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) startServers(ctx context.Context) error {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // it never fails
	secret := base64.StdEncoding.EncodeToString(random)
	key, err := dnsname.Parse("acceptance-key.")
	if err != nil {
		return err
	}
	opts := nameserver.Options{Dir: filepath.Join(s.dir, "bind"),
		Keys: []nameserver.TSIG{{Name: key, Algorithm: "hmac-sha256", Secret: secret}}}
	for _, text := range s.zones {
		name, err := dnsname.Parse(text)
		if err != nil {
			return fmt.Errorf("the zone %q: %w", text, err)
		}
		opts.Zones = append(opts.Zones, nameserver.Zone{Name: name})
	}
	if s.bind, err = nameserver.StartBIND(ctx, opts); err != nil {
		return err
	}
	opts.Dir = filepath.Join(s.dir, "powerdns")
	// What was not there a moment ago is there now: its caches would have the tests wait.
	opts.Extra = "cache-ttl=0\nnegquery-cache-ttl=0\nquery-cache-ttl=0"
	if s.powerdns, err = nameserver.StartPowerDNS(ctx, opts); err != nil {
		return err
	}
	if s.aws, err = startCloud(ctx); err != nil {
		return err
	}
	s.where.AWS = s.aws.server.URL
	s.where.BIND, s.where.TSIGName, s.where.TSIGSecret = s.bind.Addr(), key.String(), secret
	s.where.PowerDNS, s.where.PowerDNSURL, s.where.PowerDNSKey = s.powerdns.Addr(), s.powerdns.URL, s.powerdns.APIKey
	return nil
}

func (s *site) startCluster(ctx context.Context) error {
	var err error
	if s.cluster, err = testcluster.Start(ctx, testcluster.Options{Log: s.log}); err != nil {
		return err
	}
	s.where.Kubeconfig = s.cluster.Kubeconfig()
	return nil
}

// installRights applies the ServiceAccount and the roles of the chart, and writes its configuration of admission to a
// file, with the API server asking over loopback.
func (s *site) installRights(ctx context.Context) error {
	s.where.OperatorNamespace = testoperator.Namespace
	args := []string{"template", "zonefold", "charts/zonefold", "-n", testoperator.Namespace}
	if s.values != "" {
		args = append(args, "--set", s.values)
	}
	access, err := testoperator.Helm(ctx, append(args, "-s", "templates/rbac.yaml", "-s",
		"templates/serviceaccount.yaml")...)
	if err != nil {
		return err
	}
	space := fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n---\n", testoperator.Namespace)
	if _, err := s.cluster.RunKubectlInput(ctx, strings.NewReader(space+access), "apply", "-f", "-"); err != nil {
		return err
	}
	if s.where.OperatorKubeconfig, err = s.cluster.KubeconfigFor(ctx, testoperator.Namespace,
		testoperator.ServiceAccount); err != nil {
		return err
	}
	if s.where.Admission, err = freeAddress(); err != nil {
		return err
	}
	webhooks, err := testoperator.Helm(ctx, append(args, "-s", "templates/webhook.yaml")...)
	if err != nil {
		return err
	}
	s.where.Webhooks = filepath.Join(s.dir, "webhooks.yaml")
	return os.WriteFile(s.where.Webhooks, []byte(webhooks), 0o600)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

func (s *site) build(ctx context.Context) error {
	fmt.Fprintln(s.log, "compiling the operator")
	var err error
	s.where.Operator, err = testoperator.Build(ctx, s.dir)
	return err
}

// close ends everything.
func (s *site) close() error {
	if s.bind != nil {
		s.bind.Close()
	}
	if s.powerdns != nil {
		s.powerdns.Close()
	}
	var err error
	if s.aws != nil {
		err = s.aws.server.Stop()
	}
	if s.cluster != nil {
		err = errors.Join(err, s.cluster.Stop())
	}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}
