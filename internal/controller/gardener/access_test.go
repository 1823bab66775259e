package gardener_test

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// outsider is a user of the API server whom no role is bound to.
const outsider = "zonefold-without-rights"

// restrict has the operator read Secrets as the outsider, from its next start on.
func (w *world) restrict() {
	w.t.Helper()
	as := rest.CopyConfig(w.rest)
	as.Impersonate.UserName = outsider
	live, err := client.New(as, client.Options{Scheme: w.scheme})
	if err != nil {
		w.t.Fatal(err)
	}
	w.config.Live = live
}

// entitle lets the outsider read the Secrets of the namespace.
func (w *world) entitle() {
	w.t.Helper()
	w.apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: reads}\nrules: [{apiGroups: [\"\"], " +
		"resources: [secrets], verbs: [get]}]")
	w.apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: reads}\n"+
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reads}\nsubjects: [{apiGroup: "+
		"rbac.authorization.k8s.io, kind: User, name: %s}]", outsider)
}

// TestASecretThatTheOperatorMayNotRead has the rights of the operator be less than it needs: nothing tells it when that
// is over.
func TestASecretThatTheOperatorMayNotRead(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.stop()
	w.restrict()
	w.start()
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Error [ERR_CONFIGURATION_PROBLEM]")
	e := w.get("api").Status.LastError.Description
	for _, words := range []string{"the operator may not read the Secret " + w.ns + "/creds", outsider, "grant"} {
		if !strings.Contains(e, words) {
			t.Errorf("the error is %q, without %q", e, words)
		}
	}
	w.entitle()
	w.until("api", "Create Succeeded")
	w.holds(s, "A api.example.org", "120 192.0.2.1")
}
