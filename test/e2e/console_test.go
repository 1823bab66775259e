package e2e_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/testcluster/images"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// TestC1TheConsoleInAPodShowsEachWhatTheyMaySee installs the console of the chart, and asks it with the tokens of two
// tenants by the address of its Service.
func TestC1TheConsoleInAPodShowsEachWhatTheyMaySee(t *testing.T) {
	s := newSite(t)
	repository, tag, _ := strings.Cut(images.Command, ":")
	chart, err := testoperator.Template(s.ctx, "console.enabled=true,console.image.repository="+repository+
		",console.image.tag="+tag, "console.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.cluster.RunKubectlInput(s.ctx, strings.NewReader(chart), "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the node has room for the others again
		_, _ = s.cluster.RunKubectl(context.WithoutCancel(s.ctx), "delete", "deployment", "zonefold-console", "-n",
			testoperator.Namespace)
	})
	ours, theirs := s.namespace("ours"), s.namespace("theirs")
	tokens := map[string]string{}
	for _, ns := range []string{ours, theirs} {
		s.apply("%s", strings.ReplaceAll(tenant, "NAMESPACE", ns))
		tokens[ns] = s.token(ns, "person")
	}
	if _, err := s.cluster.RunKubectl(s.ctx, "rollout", "status", "-n", testoperator.Namespace,
		"deployment/zonefold-console", "--timeout=3m"); err != nil {
		t.Fatal(err)
	}

	address := s.service(testoperator.Namespace, "zonefold-console").At(443)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // its certificate is its own
	defer transport.CloseIdleConnections()
	get := func(token string) (status int, page string, err error) {
		r, err := http.NewRequestWithContext(s.ctx, http.MethodGet, "https://"+address.String()+"/", nil)
		if err != nil {
			return 0, "", err
		}
		r.Host = "zonefold-console." + testoperator.Namespace + ".svc"
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := transport.RoundTrip(r)
		if err != nil {
			return 0, "", err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text), err
	}
	for _, c := range []struct{ sentence, namespace, other string }{
		{"one tenant sees its Zone", ours, theirs},
		{"the other sees its own", theirs, ours},
	} {
		s.eventually(c.sentence, func() string {
			status, page, err := get(tokens[c.namespace])
			switch {
			case err != nil:
				return err.Error()
			case status != http.StatusOK || !strings.Contains(page, c.namespace+".example.org"):
				return fmt.Sprintf("it answers %d:\n%.2000s", status, page)
			case strings.Contains(page, c.other+".example.org"):
				t.Fatalf("it shows the Zone of %s to %s:\n%s", c.other, c.namespace, page)
			}
			return ""
		})
	}
	if status, page, err := get("no.such.token"); err != nil || status != http.StatusUnauthorized {
		t.Errorf("somebody with no token is answered %d, %v:\n%.2000s", status, err, page)
	}
}

// tenant is a person who may read what is in one namespace, and a Zone that is there.
const tenant = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: person, namespace: NAMESPACE}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: NAMESPACE}
rules:
- {apiGroups: [kubi.zone], resources: [zones, records], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: person, namespace: NAMESPACE}]
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: zone, namespace: NAMESPACE}
spec: {domainName: NAMESPACE.example.org.}
`
