package gardener

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/component"
	"github.com/gardener/gardener/pkg/component/extensions/crds"
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// zones are what both name servers hold. One lies in another, so that the longest name is what decides.
var zones = []string{"example.com.", "deep.example.com.", "example.net."}

// A site is what hack/acceptance has started, and says of it.
type site struct {
	Kubeconfig         string `json:"kubeconfig"`
	OperatorKubeconfig string `json:"operatorKubeconfig"`
	OperatorNamespace  string `json:"operatorNamespace"`
	Operator           string `json:"operator"`
	Admission          string `json:"admission"`
	Webhooks           string `json:"webhooks"`
	BIND               string `json:"bind"`
	TSIGName           string `json:"tsigName"`
	TSIGSecret         string `json:"tsigSecret"`
	PowerDNS           string `json:"powerdns"`
	PowerDNSURL        string `json:"powerdnsURL"`
	PowerDNSKey        string `json:"powerdnsKey"`
	AWS                string `json:"aws"`

	process *exec.Cmd
	turn    sync.Mutex // to give a command and hear the answer
	input   io.WriteCloser
	answers *bufio.Reader
	config  *rest.Config
	client  client.Client
}

// here is the site of all tests. It is a package variable because TestMain can hand nothing to the tests that it runs.
var here *site

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "zonefold-gardener-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if here, err = openSite(dir); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, here.close()) }()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := here.installGardener(ctx); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// openSite builds and starts hack/acceptance. It is built first: "go run" would stand between this process and its end.
func openSite(dir string) (*site, error) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "acceptance")
	build := exec.Command("go", "build", "-o", program, "./hack/acceptance")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building hack/acceptance: %w\n%s", err, out)
	}
	args := []string{"-values", chartValues}
	for _, z := range zones {
		args = append(args, "-zone", z)
	}
	s := &site{process: exec.Command(program, args...)}
	s.process.Dir, s.process.Stderr = root, os.Stderr
	if s.input, err = s.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	s.answers = bufio.NewReader(out)
	line, err := s.answers.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, s)
	}
	if err == nil {
		err = s.connect()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting what the tests need: %w", err), s.close())
	}
	return s, nil
}

func (s *site) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	s.config = config
	s.client, err = client.New(config, client.Options{Scheme: kubernetes.SeedScheme})
	return err
}

// installGardener has Gardener put its own CustomResourceDefinitions into the cluster, as it does into every seed.
func (s *site) installGardener(ctx context.Context) error {
	deployer, err := crds.NewCRD(s.client, true, true)
	if err != nil {
		return err
	}
	if err := component.OpWait(deployer).Deploy(ctx); err != nil {
		return fmt.Errorf("installing Gardener's CustomResourceDefinitions: %w", err)
	}
	return nil
}

// ask gives hack/acceptance a command, and returns what it answers.
func (s *site) ask(t *testing.T, command string) string {
	t.Helper()
	s.turn.Lock()
	defer s.turn.Unlock()
	if _, err := fmt.Fprintln(s.input, command); err != nil {
		t.Fatal(err)
	}
	answer, err := s.answers.ReadString('\n')
	ok, said, _ := strings.Cut(strings.TrimSpace(answer), " ")
	if err != nil || ok != "ok" {
		t.Fatalf("%s: %s %v", command, answer, err)
	}
	return said
}

// close has hack/acceptance end everything, and waits for that.
func (s *site) close() error {
	_ = s.input.Close()
	return s.process.Wait()
}
