package testcluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// tokenSeconds is how long a ServiceAccount's token from KubeconfigFor is valid: a long day of a cluster that was left
// running.
const tokenSeconds = 24 * 60 * 60

// writeKubeconfigs writes the kubeconfigs of the administrator and of the components.
func (c *Cluster) writeKubeconfigs() error {
	for _, name := range []string{"admin", "controller-manager", "scheduler", "kubelet", "kube-proxy"} {
		file := c.file(name + ".kubeconfig")
		if name == "admin" {
			file = c.Kubeconfig()
		}
		crt, err := os.ReadFile(c.file(name + ".crt"))
		if err != nil {
			return fmt.Errorf("reading a certificate: %w", err)
		}
		key, err := os.ReadFile(c.file(name + ".key"))
		if err != nil {
			return fmt.Errorf("reading a key: %w", err)
		}
		if err := c.writeKubeconfig(file, credentials{Certificate: crt, Key: key}); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) writeKubeconfig(file string, user credentials) error {
	ca, err := os.ReadFile(c.file("ca.crt"))
	if err != nil {
		return fmt.Errorf("reading the cluster's authority: %w", err)
	}
	return writeKubeconfig(file, c.server, ca, user)
}

// KubeconfigFor writes a kubeconfig that speaks as a ServiceAccount, which has to exist, and returns its path. The
// operator is tested under its real RBAC with it. The token is valid for a day.
func (c *Cluster) KubeconfigFor(ctx context.Context, namespace, serviceAccount string) (path string, err error) {
	url := fmt.Sprintf("%s/api/v1/namespaces/%s/serviceaccounts/%s/token", c.server, namespace, serviceAccount)
	request := fmt.Appendf(nil,
		`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":%d}}`, tokenSeconds)
	var answer struct {
		Status struct {
			Token string `json:"token"`
		} `json:"status"`
	}
	if err := c.ask(ctx, http.MethodPost, url, request, &answer); err != nil {
		return "", fmt.Errorf("asking for a token of the ServiceAccount %s/%s: %w", namespace, serviceAccount, err)
	}
	path = c.file(fmt.Sprintf("%s.%s.%s", kubeconfigFile, namespace, serviceAccount))
	return path, c.writeKubeconfig(path, credentials{Token: answer.Status.Token})
}

// RunKubectl runs kubectl as the cluster's administrator and returns what it prints. The error holds what it complains
// of.
func (c *Cluster) RunKubectl(ctx context.Context, args ...string) (string, error) {
	return c.RunKubectlInput(ctx, nil, args...)
}

// RunKubectlInput is RunKubectl with standard input, for "apply -f -".
func (c *Cluster) RunKubectlInput(ctx context.Context, input io.Reader, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Kubectl(),
		append([]string{"--kubeconfig", c.Kubeconfig(), "--cache-dir", c.file("kubectl-cache")}, args...)...)
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stderr = input, &complaint
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err,
			strings.TrimSpace(complaint.String()))
	}
	return string(out), nil
}

// ask sends one request as the cluster's administrator; any status but 2xx is an error. Answer may be nil.
func (c *Cluster) ask(ctx context.Context, method, url string, body []byte, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.admin.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err != nil {
		return fmt.Errorf("reading the answer of %s: %w", url, err)
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s answers %s: %.300s", url, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// A definition is what waiting for a CustomResourceDefinition needs of it.
type definition struct {
	Spec struct {
		Group string `json:"group"`
		Names struct {
			Plural string `json:"plural"`
		} `json:"names"`
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
		} `json:"versions"`
	} `json:"spec"`
}

// InstallCRDs applies CustomResourceDefinitions from folders and files and waits until every one in the cluster is
// served and discovered, so that a client which looks right afterwards finds it.
func (c *Cluster) InstallCRDs(ctx context.Context, paths ...string) error {
	if len(paths) == 0 {
		return nil
	}
	args := []string{"apply", "--server-side", "--force-conflicts"}
	for _, path := range paths {
		args = append(args, "-f", path)
	}
	if _, err := c.RunKubectl(ctx, args...); err != nil {
		return fmt.Errorf("applying CustomResourceDefinitions: %w", err)
	}
	var list struct {
		Items []definition `json:"items"`
	}
	if err := c.ask(ctx, http.MethodGet, c.server+"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", nil,
		&list); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, errTooLong)
	defer cancel()
	for _, d := range list.Items {
		last := errors.New("it was never asked")
		if err := until(ctx, func() bool { last = c.discovered(ctx, d); return last == nil }); err != nil {
			return fmt.Errorf("the CustomResourceDefinition %s.%s is not served: %w: %w", d.Spec.Names.Plural, d.Spec.Group, err,
				last)
		}
	}
	return nil
}

// discovered returns nil once discovery lists every served version of a definition.
func (c *Cluster) discovered(ctx context.Context, d definition) error {
	for _, version := range d.Spec.Versions {
		if !version.Served {
			continue
		}
		var found struct {
			Resources []struct {
				Name string `json:"name"`
			} `json:"resources"`
		}
		url := fmt.Sprintf("%s/apis/%s/%s", c.server, d.Spec.Group, version.Name)
		if err := c.ask(ctx, http.MethodGet, url, nil, &found); err != nil {
			return err
		}
		listed := false
		for _, r := range found.Resources {
			listed = listed || r.Name == d.Spec.Names.Plural
		}
		if !listed {
			return fmt.Errorf("%s does not list it", url)
		}
	}
	return nil
}
