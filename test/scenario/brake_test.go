package scenario

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli"
)

// TestTheBrake deletes a namespace by mistake, loses a rule, renames a Zone and deletes it.
func TestTheBrake(t *testing.T) {
	s := newStage(t)
	s.start()
	s.run("deletions that look like a mistake are held until somebody approves them", func(s *scene) {
		s.bind = s.startBIND("example.org.", "other.example.org.")
		s.backend("b", "protection: {}", s.bind)
		s.apply(`
		zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations:
		 [{records: [{pattern: "*"}]}, {namespace: ~team, records: [{pattern: "*.team"}]}]}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		`)
		for i := range 30 {
			s.apply(fmt.Sprintf(`record team/h%d: {domainName: h%d.team.example.org., type: A, rdata: 192.0.2.2}`, i, i))
		}
		s.ready("zone a/org", "record team/h29")
		owner, tenant := s.person("a", "owner", "zones"), s.person("guest", "tenant", "records")

		s.deleteNamespace("team")
		s.cond("zone a/org", "DeletionsHeld", "True TooManyDeletions", "~b holds the deletion of", ".team.example.org. A",
			"zonefold approve")
		s.quiet("zone a/org")
		s.cond("zone a/org", "Ready", "True Ready")
		left := s.left(30)
		if left < 20 {
			s.t.Errorf("of 30 names of a namespace that was deleted %d are left", left)
		}
		s.apply(`record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.3}`)
		s.answers("new.example.org. A", "192.0.2.3")
		if held := s.metric("zonefold_held_sets"); int(held) != left {
			s.t.Errorf("the metric says that %v sets are held, and %d are", held, left)
		}
		s.event("org", "TooManyDeletions")

		held := s.zone("a/org").Status.Held
		s.approve(tenant, 1, "you need the right")
		s.approve(owner, 1, "the held plan is "+held.Plan, "--plan", "other")
		s.approve(owner, 0, fmt.Sprintf("the deletion of %d sets is approved: ", left), "--plan", held.Plan)
		s.eventually("the names of the namespace", func() string {
			if n := s.left(30); n > 0 {
				return fmt.Sprintf("%d of them are left", n)
			}
			return ""
		})
		s.eventually("zone a/org", func() string {
			z := s.zone("a/org")
			if approval := z.Annotations[zonefold.ApproveAnnotation]; approval != "" || z.Status.Held != nil {
				return fmt.Sprintf("it is approved by %q, and there is held %+v", approval, z.Status.Held)
			}
			return ""
		})
		s.approve(owner, 0, "no deletions are held")

		s.loseARule()
		s.renameAndDelete(owner)
	})
	s.run("a Backend is told which protection it cannot have", func(s *scene) {
		s.bind = s.startBIND("example.org.")
		for more, words := range map[string]string{
			"protection: {maxDeletedPercent: 101}": "less than or equal to 100",
			"protection: {minDeleted: -1}":         "greater than or equal to 0",
			"protection: {policy: Never}":          "Unsupported value",
		} {
			s.notTaken(more, words)
		}
		o := s.objects("backend bad: {embedded: {}, protection: {policy: UpsertOnly}}")[0]
		if err := s.put(o); err == nil || !strings.Contains(err.Error(), "begins empty") {
			s.t.Errorf("an embedded Backend with UpsertOnly: %v", err)
		}
	})
}

// loseARule takes the rule for Records of the own namespace from the Zone, and gives it back: nothing was lost.
func (s *scene) loseARule() {
	s.t.Helper()
	for i := range 30 {
		s.apply(fmt.Sprintf(`record a/own%d: {domainName: own%d.example.org., type: A, rdata: 192.0.2.4}`, i, i))
	}
	s.ready("record a/own29")
	s.merge("zone a/org", `{"spec": {"delegations": []}}`)
	s.refused("record a/own0", "NotDelegated")
	s.cond("zone a/org", "DeletionsHeld", "True TooManyDeletions")
	s.answers("own0.example.org. A", "192.0.2.4")
	s.answers("www.example.org. A", "192.0.2.1")
	s.merge("zone a/org", `{"spec": {"delegations": [{"records": [{"pattern": "*"}]}]}}`)
	s.ready("record a/own0", "zone a/org")
	s.eventually("zone a/org", func() string {
		if h := s.zone("a/org").Status.Held; h != nil {
			return fmt.Sprintf("%d sets are held", h.Sets)
		}
		return ""
	})
}

// renameAndDelete gives the Zone another name, under which it is served beside the old one, and deletes it.
func (s *scene) renameAndDelete(owner string) {
	s.t.Helper()
	s.merge("zone a/org", `{"spec": {"domainName": "other.example.org."}}`)
	s.cond("zone a/org", "DeletionsHeld", "True TooManyDeletions", "example.org. stays served")
	s.answers("own0.example.org. A", "192.0.2.4")
	s.remove("zone a/org")
	s.cond("zone a/org", "DeletionsHeld", "True TooManyDeletions")
	s.cond("zone a/org", "Ready", "False Withdrawing")
	s.answers("own0.example.org. A", "192.0.2.4")
	s.approve(owner, 0, "is approved")
	s.gone("zone a/org")
	s.answers("own0.example.org. A")
}

// left counts the names h0 to h(n-1) of the namespace team that are served.
func (s *scene) left(n int) int {
	s.t.Helper()
	left := 0
	for i := range n {
		got, err := s.ask(s.bind, s.question(fmt.Sprintf("h%d.team.example.org. A", i)))
		if err != nil {
			s.t.Fatal(err)
		}
		left += len(got)
	}
	return left
}

// quiet waits until as many sets are held as the names that are left.
func (s *scene) quiet(ref string) {
	s.t.Helper()
	s.eventually(ref, func() string {
		z := s.zone(strings.TrimPrefix(ref, "zone "))
		if z.Status.Held == nil || int(z.Status.Held.Sets) != s.left(30) || z.Status.EntryCount != 2 {
			return fmt.Sprintf("it has %d entries, and there is held %+v", z.Status.EntryCount, z.Status.Held)
		}
		return ""
	})
}

func (s *scene) deleteNamespace(name string) {
	s.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.prefix + name}}
	if err := s.client.Delete(s.ctx, ns); err != nil {
		s.t.Fatal(err)
	}
}

// event waits for one about an object.
func (s *scene) event(name, reason string) {
	s.t.Helper()
	s.eventually("the events of "+name, func() string {
		var list eventsv1.EventList
		if err := s.client.List(s.ctx, &list, client.InNamespace(s.prefix+"a")); err != nil {
			return err.Error()
		}
		for i := range list.Items {
			if e := &list.Items[i]; e.Regarding.Name == name && e.Reason == reason {
				return ""
			}
		}
		return "none has the reason " + reason
	})
}

// person makes a ServiceAccount that may read and patch one kind in its namespace, and returns its kubeconfig.
func (s *scene) person(namespace, name, resource string) string {
	s.t.Helper()
	at := metav1.ObjectMeta{Namespace: s.prefix + namespace, Name: name}
	s.ensureNamespace(at.Namespace)
	for _, o := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: at},
		&rbacv1.Role{ObjectMeta: at, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"kubi.zone"},
			Resources: []string{resource}, Verbs: []string{"get", "list", "patch"}}}},
		&rbacv1.RoleBinding{ObjectMeta: at, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: at.Namespace, Name: name}}},
	} {
		if err := s.client.Create(s.ctx, o); err != nil {
			s.t.Fatal(err)
		}
	}
	kubeconfig, err := s.cluster.KubeconfigFor(s.ctx, at.Namespace, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return kubeconfig
}

// approve runs the command as somebody, and compares the exit code and what it says.
func (s *scene) approve(kubeconfig string, code int, words string, args ...string) {
	s.t.Helper()
	var out bytes.Buffer
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		args = append([]string{"zone/org"}, args...)
	}
	got := cli.Run(s.ctx, cli.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" },
		Args: append([]string{"zonefold", "approve", "-n", s.prefix + "a", "--kubeconfig", kubeconfig}, args...)})
	if got != code || !strings.Contains(out.String(), words) {
		s.t.Fatalf("approve %q exits with %d, want %d, and says %q, want %q", args, got, code, out.String(), words)
	}
}
