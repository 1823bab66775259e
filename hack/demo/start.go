package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	quickstart = "examples/quickstart"
	manifest   = "config/install/zonefold.yaml"
	keyName    = "zonefold."
	// patience is how long something may take that takes a moment on an idle machine.
	patience = 2 * time.Minute
)

// startCluster starts the control plane and says how to use it.
func (s *stage) startCluster(ctx context.Context) error {
	s.chapter("A Kubernetes control plane",
		"etcd, kube-apiserver and kube-controller-manager, built from source: about ten minutes the first time, then kept.")
	for _, path := range []string{quickstart, "config/crd", manifest} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w: run the demo in the repository's folder", err)
		}
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "zonefold-demo-"); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	s.cluster, err = testcluster.Start(ctx, testcluster.Options{Log: lines{s}, ControllerManager: true, CRDs: []string{
		"config/crd"}})
	if err != nil {
		return err
	}
	s.say("It has zonefold's CustomResourceDefinitions (config/crd).")
	s.sayHowToUse()
	return nil
}

// sayHowToUse says how to reach the cluster.
func (s *stage) sayHowToUse() {
	s.say("To use it yourself, in another terminal:")
	s.say("")
	s.say("  export KUBECONFIG=%s", quoted(s.cluster.Kubeconfig()))
	s.say("  export PATH=%s:$PATH", quoted(filepath.Dir(s.cluster.Kubectl())))
}

// startBIND starts a name server with empty zones that the holder of a key may change.
func (s *stage) startBIND(ctx context.Context) error {
	s.chapter("A name server",
		"BIND, with three empty zones that everybody who has a secret key may change (dynamic updates, RFC 2136).")
	return s.runBIND(ctx, quickstartZones()...)
}

func quickstartZones() []string {
	return []string{"example.org.", "team-a.example.org.", "team-b.example.org."}
}

// runBIND runs BIND with empty zones.
func (s *stage) runBIND(ctx context.Context, zones ...string) error {
	s.secret = newSecret()
	key, err := dnsname.Parse(keyName)
	if err != nil {
		return err
	}
	opts := nameserver.Options{
		Dir:  filepath.Join(s.dir, "bind"),
		Keys: []nameserver.TSIG{{Name: key, Algorithm: "hmac-sha256", Secret: s.secret}},
	}
	for _, text := range zones {
		zone, err := dnsname.Parse(text)
		if err != nil {
			return err
		}
		opts.Zones = append(opts.Zones, nameserver.Zone{Name: zone})
	}
	if s.bind, err = nameserver.StartBIND(ctx, opts); err != nil {
		return err
	}
	s.say("It answers at %s.", s.bind.Addr())
	return nil
}

// newSecret makes a secret for a TSIG key.
func newSecret() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // it never fails
	return base64.StdEncoding.EncodeToString(random)
}

// startOperator builds the operator and starts it as a process of its own, as it would run in a Pod.
func (s *stage) startOperator(ctx context.Context) error {
	s.chapter("The operator",
		"It watches the API server, works out what each zone holds, and sends what changes to the name servers.",
		"It speaks as a ServiceAccount that has the rights that "+manifest+" gives it, and no others.")
	number, release, err := nameserver.ClaimPort()
	if err != nil {
		return err
	}
	s.release, s.dns = release, nameserver.At(number)
	if err := s.runOperator(ctx, manifest, "--dns-bind-address", s.dns.Addr(), "--history", "10"); err != nil {
		return err
	}
	s.say("It has a name server of its own at %s (--dns-bind-address), for part 10, and keeps the last "+
		"10 changes of each zone (--history).", s.dns.Addr())
	return nil
}

// runOperator builds the operator and runs it with the rights of a manifest, until it is ready.
func (s *stage) runOperator(ctx context.Context, manifest string, args ...string) error {
	path, err := s.build(ctx, "operator")
	if err != nil {
		return err
	}
	if err := s.kubectl(ctx, "apply", "-f", manifest, "-l", "app.kubernetes.io/component=access"); err != nil {
		return err
	}
	kubeconfig, err := s.cluster.KubeconfigFor(ctx, testoperator.Namespace, testoperator.ServiceAccount)
	if err != nil {
		return err
	}
	if s.log, err = os.Create(filepath.Join(s.dir, "operator.log")); err != nil {
		return fmt.Errorf("making the operator's log: %w", err)
	}
	if s.operator, err = testoperator.Start(testoperator.Options{Path: path, Kubeconfig: kubeconfig, Args: args,
		Log: s.log}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = s.until(ctx, func() error {
		if !s.operator.Ready() {
			return errors.New("the operator does not become ready")
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.say("It is process %d and logs to %s.", s.operator.PID(), s.log.Name())
	return nil
}

// build compiles a program and says how far it is; a machine without a build cache takes minutes for it.
func (s *stage) build(ctx context.Context, program string) (string, error) {
	path := filepath.Join(s.dir, program)
	s.command("go", "build", "./cmd/"+program)
	cmd := exec.CommandContext(ctx, "go", "build", "-v", "-o", path, "./cmd/"+program)
	out, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	began, said, packages := time.Now(), time.Now(), 0
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("building %s: %w", program, err)
	}
	var complaints []string
	for scan := bufio.NewScanner(out); scan.Scan(); {
		if strings.ContainsAny(scan.Text(), " :#") { // no package's name, but the compiler speaking
			complaints = append(complaints, scan.Text())
			continue
		}
		packages++
		if time.Since(said) >= 10*time.Second {
			said = time.Now()
			s.say("  %d packages compiled, %s", packages, time.Since(began).Round(time.Second))
		}
	}
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", program, err, strings.Join(complaints, "\n"))
	}
	return path, nil
}

// backend says where zones go. BIND begins with a name server of its own in each zone, which foreign: Delete lets
// zonefold replace.
const backend = `apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata:
  name: bind
spec:
  default: true # takes every Zone that names no Backend
  foreign: Delete # nobody else writes to this server
  grants: [{namespaces: [dns], zones: ["example.org."]}] # nobody else has a root Zone; who has one delegates what is below
  protection: {} # what looks like a mistake is not deleted at once
  rfc2136:
    servers: [%q]
    tsig:
      keyName: %s
      secretRef:
        name: bind-key
`

// createBackend tells the operator of the name server.
func (s *stage) createBackend(ctx context.Context) error {
	s.chapter("A Backend", "It tells the operator where zones go, and which Secret of its own namespace has the key.")
	key, err := s.file("key", s.secret)
	if err != nil {
		return err
	}
	if err := s.kubectl(ctx, "create", "secret", "generic", "bind-key", "-n", testoperator.Namespace,
		"--from-file=secret="+key); err != nil {
		return err
	}
	text := fmt.Sprintf(backend, s.bind.Addr(), keyName)
	if err := s.applyFile(ctx, "backend.yaml", text); err != nil {
		return err
	}
	return s.kubectl(ctx, "wait", "--for=condition=Ready", "backends.zonefold.dev/bind", "--timeout="+patience.String())
}
