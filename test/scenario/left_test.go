package scenario

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

// TestLeftBehind deletes Zones whose servers are down.
func TestLeftBehind(t *testing.T) {
	s := newStage(t)
	s.start()

	s.run("a namespace that is deleted while its server is down goes, and what was its own goes when the server is back",
		func(s *scene) {
			s.bind = s.startBIND("example.org.")
			s.backend("b", "leaveBehindAfter: 2s", s.bind)
			s.apply(www("b") + `
			record a/ftp: {domainName: ftp.example.org., type: A, rdata: 192.0.2.2}
			record a/txt: {domainName: txt.example.org., type: TXT, rdata: '"a b" "c\"d"'}
			`)
			s.ready("zone a/org", "record a/www", "record a/ftp", "record a/txt")
			s.bind.Kill()
			s.deleteNamespace("a")
			s.namespaceGone("a")
			left := s.leftBehind("b")
			if len(left) != 1 || left[0].FQDN != s.text("example.org.") || left[0].Namespace != s.prefix+"a" ||
				left[0].Sets != 3 || left[0].Whole ||
				!strings.Contains(left[0].Text, s.text("www.example.org. 360 IN A 192.0.2.1\n")) {
				s.t.Fatalf("the Backend lists %+v", left)
			}
			s.eventually("the reason", func() string {
				if l := s.leftBehind("b"); l[0].Reason != "Unavailable" || !strings.Contains(l[0].Message, s.bind.Addr()) {
					return fmt.Sprintf("it is %s: %s", l[0].Reason, l[0].Message)
				}
				return ""
			})
			s.op.Kill()
			if err := s.bind.Start(s.ctx); err != nil {
				s.t.Fatal(err)
			}
			s.update(s.bind, "example.org.", "delete ftp.example.org. A", "add ftp.example.org. 60 A 203.0.113.9",
				"add other.example.org. 60 A 203.0.113.9")
			s.start()
			s.forgotten("b")
			s.answers("www.example.org. A")
			s.answers("txt.example.org. TXT")
			s.answers("ftp.example.org. A", "203.0.113.9")
			s.answers("other.example.org. A", "203.0.113.9")
		})

	s.sideBySide()
	s.run("a Zone goes at once when somebody asks for it, and another of its name takes it over", func(s *scene) {
		s.bind = s.startBIND("example.org.")
		s.backend("b", "", s.bind)
		s.apply(www("b") + `record a/ftp: {domainName: ftp.example.org., type: A, rdata: 192.0.2.2}`)
		s.ready("zone a/org", "record a/www", "record a/ftp")
		serial := *s.zone("a/org").Status.Serial
		s.bind.Kill()
		s.remove("zone a/org")
		s.cond("zone a/org", "Ready", "False Withdrawing", s.bind.Addr())
		s.merge("zone a/org", `{"metadata": {"annotations": {"zonefold.dev/leave-behind": "true"}}}`)
		s.gone("zone a/org")
		if left := s.leftBehind("b"); len(left) != 1 {
			s.t.Fatalf("the Backend lists %+v", left)
		}
		s.remove("record a/ftp")
		s.apply(www("b"))
		if err := s.bind.Start(s.ctx); err != nil {
			s.t.Fatal(err)
		}
		s.ready("zone a/org", "record a/www")
		s.forgotten("b")
		s.answers("www.example.org. A", "192.0.2.1")
		s.answers("ftp.example.org. A")
		if now := *s.zone("a/org").Status.Serial; now <= serial {
			s.t.Errorf("the serial went from %d to %d", serial, now)
		}
		s.agree("a/org")
	})

	s.run("what the brake holds of a Zone stays held when the Zone goes", func(s *scene) {
		s.bind = s.startBIND("example.org.")
		s.backend("b", "leaveBehindAfter: 1s, protection: {minDeleted: 0}", s.bind)
		s.apply(www("b"))
		s.ready("zone a/org", "record a/www")
		s.remove("zone a/org")
		s.cond("zone a/org", "DeletionsHeld", "True TooManyDeletions")
		s.merge("zone a/org", `{"metadata": {"annotations": {"zonefold.dev/leave-behind": ""}}}`)
		s.gone("zone a/org")
		plan := ""
		s.eventually("the plan", func() string {
			l := s.leftBehind("b")
			if len(l) != 1 || l[0].Reason != "TooManyDeletions" || l[0].Plan == "" {
				return fmt.Sprintf("the Backend lists %+v", l)
			}
			plan = l[0].Plan
			return ""
		})
		s.answers("www.example.org. A", "192.0.2.1")
		ref, admin := "backend/"+s.prefix+"b", s.cluster.Kubeconfig()
		s.approve(s.person("guest", "tenant", "records"), 1, "you need the right", ref)
		s.approve(admin, 1, "has the plan other; that of "+s.text("example.org.")+" is "+plan, ref, "--plan", "other")
		s.approve(admin, 0, "left behind of "+s.text("example.org."), ref)
		s.forgotten("b")
		s.answers("www.example.org. A")
		s.approve(admin, 0, "nothing to do", ref)
	})
}

// leftBehind returns what a Backend lists.
func (s *scene) leftBehind(name string) []zonefold.LeftBehind {
	s.t.Helper()
	var b zonefold.Backend
	if err := s.client.Get(s.ctx, client.ObjectKey{Name: s.prefix + name}, &b); err != nil {
		s.t.Fatal(err)
	}
	return b.Status.LeftBehind
}

// forgotten waits until a Backend lists nothing.
func (s *scene) forgotten(name string) {
	s.t.Helper()
	s.eventually("what is left behind", func() string {
		if l := s.leftBehind(name); len(l) > 0 {
			return fmt.Sprintf("there is %+v", l)
		}
		return ""
	})
}

func (s *scene) namespaceGone(name string) {
	s.t.Helper()
	s.eventually("namespace "+name, func() string {
		var ns corev1.Namespace
		if err := s.client.Get(s.ctx, client.ObjectKey{Name: s.prefix + name}, &ns); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("it is %s: %v", ns.Status.Phase, err)
		}
		return ""
	})
}
