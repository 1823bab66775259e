package scenario

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

// tenant gives a user what the example of a tenant's role gives, in one namespace.
func (s *scene) tenant(user, namespace string) {
	s.t.Helper()
	meta := metav1.ObjectMeta{Namespace: s.text(namespace), Name: "tenant"}
	s.ensureNamespace(meta.Namespace)
	all := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	for _, o := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"kubi.zone"}, Resources: []string{"zones", "records"}, Verbs: all},
			{APIGroups: []string{"zonefold.dev"}, Resources: []string{"zonerevisions"}, Verbs: []string{"get", "list", "watch"}},
		}},
		&rbacv1.RoleBinding{ObjectMeta: meta,
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}},
	} {
		if err := s.client.Create(s.ctx, o); err != nil {
			s.t.Fatal(err)
		}
	}
}

// revisions returns the history of all Zones of a namespace.
func (s *scene) revisions(namespace string) []zonefold.ZoneRevision {
	s.t.Helper()
	var list zonefold.ZoneRevisionList
	if err := s.client.List(s.ctx, &list, client.InNamespace(s.text(namespace))); err != nil {
		s.t.Fatal(err)
	}
	return list.Items
}

// writtenDown waits until the status of a Zone has the serial that a server has, and returns it.
func (s *scene) writtenDown(where string) int64 {
	s.t.Helper()
	var serial int64
	s.eventually("the status", func() string {
		status := s.zone(where).Status
		if status.Serial == nil || uint32(*status.Serial) != s.serial(s.bind, "example.org.") {
			return "it has another serial than the server"
		}
		serial = int64(*status.Serial)
		return ""
	})
	return serial
}

// looks waits until the operator, which audits often, has read the zones: it has judged all objects before.
func (s *scene) looks() {
	s.t.Helper()
	s.eventually("metrics", func() string {
		if _, err := s.op.Metrics("zonefold_"); err != nil {
			return err.Error()
		}
		return ""
	})
	s.audited(1)
}

// TestTheHistoryOfAZone changes a Zone, tells what did that, and goes back to what was before.
func TestTheHistoryOfAZone(t *testing.T) {
	s := newStage(t)
	s.bind = s.startBIND("example.org.")
	s.backend("b", "", s.bind)
	keep := "--history=5"
	s.start(keep)
	s.tenant("team-a", "~a")
	s.tenant("team-b", "~b")
	s.apply(www("b"))
	s.ready("zone a/org", "record a/www")
	s.answers("www.example.org. A", "192.0.2.1")
	first := s.writtenDown("a/org")
	again := func() { // what follows is another moment, for another operator
		s.t.Helper()
		s.op.Stop()
		s.start(keep, audits)
		s.looks()
	}
	again()
	s.apply(`record a/mail: {domainName: mail.example.org., type: A, rdata: 192.0.2.5}`)
	s.answers("mail.example.org. A", "192.0.2.5")
	second := s.writtenDown("a/org")
	again()
	s.remove("record a/mail")
	s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
	s.answers("mail.example.org. A")
	s.answers("www.example.org. A", "192.0.2.2")
	s.writtenDown("a/org")
	history := s.zonefold(0, "history", "example.org")
	for _, r := range s.revisions("~a") {
		if text, err := json.Marshal(r); err != nil || len(text) > 2000 {
			t.Errorf("a revision of one record takes %d octets: %v", len(text), err)
		} else {
			t.Logf("a revision takes %d octets", len(text))
		}
	}

	s.step("is told to who may read it", func() {
		s.says(history, "SERIAL", fmt.Sprint(second), "record/mail -n ~a (deleted)", "record/www -n ~a")
		if lines := strings.Count(history, "\n"); lines < 4 {
			s.t.Errorf("there are %d lines, want the head and 3 revisions or more:\n%s", lines, history)
		}
		said := s.zonefold(0, "blame", "mail.example.org", "A", "--as", "team-a", "-n", "~a")
		s.says(said, "+ mail.example.org. 360 IN A 192.0.2.5", "- mail.example.org. 360 IN A 192.0.2.5")
		s.says(s.zonefold(0, "history", "~a/org", "--as", "team-a", "-o", "yaml"), "kind: Record", "- mail.example.org.")
		s.says(s.zonefold(1, "history", "~a/org", "--as", "team-b"), "forbidden")
		s.says(s.zonefold(1, "rollback", "~a/org", "--to", "1", "--as", "team-b"), "forbidden")
		s.says(s.zonefold(1, "freeze", "~a/org", "--as", "team-b"), "forbidden")
		s.says(s.zonefold(1, "blame", "other.example.org"), "no change in the history")
	})

	s.step("is gone back to, and stays until it is thawed", func() {
		s.says(s.zonefold(1, "rollback", "~a/org", "--to", "7", "--yes"), "no content with serial 7")
		s.says(s.zonefold(1, "rollback", "~a/org", "--to", fmt.Sprint(second)), "- www.example.org. 360 IN A 192.0.2.2",
			"nothing was done")
		before := s.serial(s.bind, "example.org.")
		said := s.zonefold(0, "rollback", "~a/org", "--to", fmt.Sprint(second), "--yes", "--as", "team-a")
		s.says(said, "+ mail.example.org. 360 IN A 192.0.2.5", "2 sets wait",
			fmt.Sprintf("It was rolled back to serial %d", second))
		s.answers("mail.example.org. A", "192.0.2.5")
		s.answers("www.example.org. A", "192.0.2.1")
		if now := s.serial(s.bind, "example.org."); now-before > 1<<30 || now == before {
			s.t.Errorf("the serial went from %d to %d", before, now)
		}
		s.cond("record a/www", "Ready", "False Frozen")
		s.writtenDown("a/org")
		s.op.Kill()
		s.start(keep, audits)
		s.cond("zone a/org", "Frozen", "True RolledBack", fmt.Sprintf("to serial %d", second))
		s.looks()
		s.audited(4)
		s.answers("mail.example.org. A", "192.0.2.5")
		s.answers("www.example.org. A", "192.0.2.1")
		s.zonefold(0, "rollback", "~a/org", "--to", fmt.Sprint(first), "--yes") // further, while it is frozen
		s.answers("mail.example.org. A")
		s.answers("www.example.org. A", "192.0.2.1")
		s.writtenDown("a/org")
		s.zonefold(0, "thaw", "~a/org", "--as", "team-a")
		s.answers("www.example.org. A", "192.0.2.2")
		s.ready("zone a/org", "record a/www")
		s.says(s.zonefold(0, "history", "~a/org"), fmt.Sprintf("rolled back to %d", second),
			fmt.Sprintf("rolled back to %d", first))
	})

	s.step("is no longer than it may be, and ends with its Zone", func() {
		if n := len(s.revisions("~a")); n != 5 {
			s.t.Errorf("there are %d revisions, want 5", n)
		}
		s.remove("zone a/org")
		s.gone("zone a/org")
		s.eventually("the history", func() string {
			if n := len(s.revisions("~a")); n > 0 {
				return fmt.Sprintf("%d revisions are left", n)
			}
			return ""
		})
	})
}
