package scenario

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// manifest is what people apply; ours is all of it but the CustomResourceDefinitions, which some tests change.
const (
	manifest = "../../config/install/zonefold.yaml"
	ours     = "app.kubernetes.io/part-of=zonefold"
)

// installed is what the manifest makes of the cluster, once for all tests.
var installed struct {
	once       sync.Once
	kubeconfig string
	err        error
}

// install applies the manifest and returns a kubeconfig that speaks as the operator's
// ServiceAccount: it may do what the manifest gives it and nothing else.
func install(t *testing.T, c *testcluster.Cluster) string {
	t.Helper()
	installed.once.Do(func() {
		ctx := context.Background()
		if _, installed.err = c.RunKubectl(ctx, "apply", "-f", manifest, "-l", ours); installed.err == nil {
			installed.kubeconfig, installed.err = c.KubeconfigFor(ctx, testoperator.Namespace, testoperator.ServiceAccount)
		}
	})
	if installed.err != nil {
		t.Fatal(installed.err)
	}
	return installed.kubeconfig
}

// complaint returns the first line of the operator's log about a right that it lacks,
// besides those that the test keeps from it.
func (s *stage) complaint() string {
	for line := range strings.Lines(s.log.String()) {
		forbidden := strings.Contains(line, "is forbidden: User") || strings.Contains(line, "is forbidden: cannot")
		if forbidden && (s.lacks == "" || !strings.Contains(line, s.lacks)) {
			return line
		}
	}
	return ""
}

// letReadSecrets gives the operator the Role that docs/backends.md asks for in a
// namespace of --credentials-namespaces.
func (s *scene) letReadSecrets(namespace string) {
	s.t.Helper()
	s.ensureNamespace(namespace)
	s.kubectl("create", "role", testoperator.ServiceAccount, "-n", namespace, "--verb=get,list,watch",
		"--resource=secrets")
	s.kubectl("create", "rolebinding", testoperator.ServiceAccount, "-n", namespace,
		"--role="+testoperator.ServiceAccount, "--serviceaccount="+testoperator.Namespace+":"+testoperator.ServiceAccount)
}

// revoke takes the operator's rights, and waits until the API server knows.
func (s *scene) revoke() {
	s.t.Helper()
	s.lacks = "is forbidden"
	s.kubectl("delete", "clusterrolebinding", testoperator.ServiceAccount)
	s.eventually("the operator's rights", func() string {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:" + testoperator.Namespace + ":" + testoperator.ServiceAccount,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: "patch", Group: "kubi.zone", Resource: "zones", Subresource: "status",
			},
		}}
		if err := s.client.Create(s.ctx, review); err != nil {
			return err.Error()
		}
		if review.Status.Allowed {
			return "it may write the status of Zones: " + review.Status.Reason
		}
		return ""
	})
}

// grant gives the operator back what revoke has taken.
func (s *scene) grant() {
	s.t.Helper()
	s.kubectl("apply", "-f", manifest, "-l", ours)
}

// TestAZoneIsServedOnceItCanBeWrittenDown has what writes where a Zone goes and what writes its conditions both wait
// for the API server, and go on together.
func TestAZoneIsServedOnceItCanBeWrittenDown(t *testing.T) {
	s := newStage(t)
	s.bind = s.startBIND("example.org.", "example.net.")
	s.start()
	s.backend("b", "", s.bind)
	s.apply(www("b"))
	s.ready("zone a/org", "record a/www", "backend b")
	s.revoke()
	s.apply(`zone a/net: {domainName: example.net., backendRefs: [{name: ~b}], delegations: ` + anything + `}`)
	s.eventually("both writers", func() string {
		// The first one has failed seven times after 3.2 s, the second one begins after 2 s.
		failed := "writing the status of Zone " + s.reference("zone a/net").namespace + "/net"
		if n := strings.Count(s.log.String(), failed); n < 9 {
			return fmt.Sprintf("they have failed %d times", n)
		}
		return ""
	})
	s.grant()
	s.ready("zone a/net")
}

func TestTheInstallationIsAdmitted(t *testing.T) {
	s := newStage(t)
	s.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", manifest)
	// Its namespace enforces the restricted Pod Security Standard, and there is no node.
	s.eventually("the Pods of the Deployment", func() string {
		pods := s.kubectl("get", "pods", "-n", testoperator.Namespace, "-l", "app.kubernetes.io/name="+
			testoperator.ServiceAccount,
			"-o", "jsonpath={.items[*].status.phase}")
		if pods != "Pending Pending" {
			return fmt.Sprintf("they are %q: %s", pods, s.kubectl("get", "replicasets", "-n", testoperator.Namespace,
				"-o", "jsonpath={.items[*].status.conditions[*].message}"))
		}
		return ""
	})
}

func TestTheOperatorMayNotMoreThanItNeeds(t *testing.T) {
	s := newStage(t)
	as := "--as=system:serviceaccount:" + testoperator.Namespace + ":" + testoperator.ServiceAccount
	for question, want := range map[string]bool{
		"list secrets -n " + testoperator.Namespace:   true,
		"create leases -n " + testoperator.Namespace:  true,
		"create events.events.k8s.io -n default":      true,
		"list secrets -n default":                     false,
		"get secrets -A":                              false,
		"create secrets -n " + testoperator.Namespace: true, // the key of its replicas
		"update secrets -n " + testoperator.Namespace: false,
		"delete secrets -n " + testoperator.Namespace: false,
		"create secrets -n default":                   false,
		"update leases -n kube-system":                false,
		"create zones.kubi.zone -n default":           false,
		"delete zones.kubi.zone -n default":           false,
		"delete records.kubi.zone -n default":         false,
		"patch backends.zonefold.dev":                 false,
		"patch customresourcedefinitions":             false,
		"create pods -n " + testoperator.Namespace:    false,
		"escalate clusterroles":                       false,
	} {
		// "no" is an error
		out, _ := s.cluster.RunKubectl(s.ctx, append([]string{"auth", "can-i", as}, strings.Fields(question)...)...)
		if got := strings.TrimSpace(out); got != map[bool]string{true: "yes", false: "no"}[want] {
			t.Errorf("may it %s? %q, and it should be %v", question, got, want)
		}
	}
}
