package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/testcluster"
)

// patience is how long a condition may take; on an idle machine all take milliseconds.
const patience = time.Minute

// eventually waits until check returns "", and fails with what it returned last.
func (s *scene) eventually(what string, check func() string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	testcluster.Eventually(ctx, s.t, what, check)
}

// question reads "www.example.org. A".
func (s *scene) question(text string) rr.Key {
	s.t.Helper()
	owner, kind, _ := strings.Cut(s.text(text), " ")
	t, err := rr.ParseType(kind)
	if err != nil {
		s.t.Fatal(err)
	}
	return rr.Key{Name: name(owner), Type: t}
}

// answers waits until BIND answers a question with exactly the data, in any order; none is an answer too.
func (s *scene) answers(question string, want ...string) {
	s.t.Helper()
	s.answersAt(s.bind, question, want...)
}

func (s *scene) answersAt(server *nameserver.Server, question string, want ...string) {
	s.t.Helper()
	k := s.question(question)
	for i := range want {
		want[i] = s.text(want[i])
	}
	slices.Sort(want)
	s.eventually(s.text(question), func() string {
		got, err := s.ask(server, k)
		if err != nil {
			return err.Error()
		}
		if !slices.Equal(got, want) {
			return fmt.Sprintf("the server says %q, not %q", got, want)
		}
		return ""
	})
}

// ask returns the data of a set as a server has it.
func (s *scene) ask(server *nameserver.Server, k rr.Key) ([]string, error) {
	answer, err := server.Lookup(s.ctx, k)
	if err != nil {
		return nil, err
	}
	var got []string
	for _, set := range answer.Sets {
		if set.Key() == k {
			got = append(got, set.Data...)
		}
	}
	slices.Sort(got)
	return got, nil
}

// cond waits until a condition has a status and a reason, about the object as it is now,
// and its message contains a text.
func (s *scene) cond(ref, kind, statusReason string, message ...string) {
	s.t.Helper()
	s.eventually(ref+" "+kind, func() string { return s.hasCond(ref, kind, statusReason, message...) })
}

// hasCond looks once for what cond waits for.
func (s *scene) hasCond(ref, kind, statusReason string, message ...string) string {
	o := s.reference(ref).blank()
	if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err.Error()
	}
	c := find(conditionsOf(o), kind)
	if c == nil {
		return "there is no such condition"
	}
	got := string(c.Status) + " " + c.Reason
	if got != statusReason || c.ObservedGeneration != o.GetGeneration() {
		return fmt.Sprintf("it is %s (%s) of generation %d, not %s of generation %d",
			got, c.Message, c.ObservedGeneration, statusReason, o.GetGeneration())
	}
	for _, m := range message {
		if !strings.Contains(c.Message, s.text(m)) {
			return fmt.Sprintf("it says %q, without %q", c.Message, s.text(m))
		}
	}
	return ""
}

func find(list []metav1.Condition, kind string) *metav1.Condition {
	if i := slices.IndexFunc(list, func(c metav1.Condition) bool { return c.Type == kind }); i >= 0 {
		return &list[i]
	}
	return nil
}

// ready waits until objects are Ready.
func (s *scene) ready(refs ...string) {
	s.t.Helper()
	for _, ref := range refs {
		s.cond(ref, "Ready", "True Ready")
	}
}

// refused waits until an object is not accepted, for a reason.
func (s *scene) refused(ref, reason string, message ...string) {
	s.t.Helper()
	s.cond(ref, "Accepted", "False "+reason, message...)
	s.cond(ref, "Served", "False NotAccepted")
	s.cond(ref, "Ready", "False "+reason)
}

// parent waits until an object has the label of a parent "a/zone", or none at all.
func (s *scene) parent(ref, parent string) {
	s.t.Helper()
	want := ""
	if parent != "" {
		p := s.reference("zone " + parent)
		want = p.name + "." + p.namespace
	}
	o := s.reference(ref).blank()
	s.eventually(ref+" parent", func() string {
		if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err.Error()
		}
		if got := o.GetLabels()[kubizone.ParentZoneLabel]; got != want {
			return fmt.Sprintf("the label is %q, not %q", got, want)
		}
		return ""
	})
}

// fqdn waits until an object has a name.
func (s *scene) fqdn(ref, want string) {
	s.t.Helper()
	o := s.reference(ref).blank()
	s.eventually(ref+" fqdn", func() string {
		if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err.Error()
		}
		got := ""
		switch o := o.(type) {
		case *kubizone.Zone:
			got = o.Status.FQDN
		case *kubizone.Record:
			got = o.Status.FQDN
		}
		if got != s.text(want) {
			return fmt.Sprintf("it is %q, not %q", got, s.text(want))
		}
		return ""
	})
}

// entries waits until a Zone lists exactly these entries after its SOA, each as
// "fqdn ttl type rdata", and has hash and serial.
func (s *scene) entries(where string, want ...string) *kubizone.Zone {
	s.t.Helper()
	for i := range want {
		want[i] = s.text(want[i])
	}
	var z *kubizone.Zone
	s.eventually("entries of "+where, func() string {
		z = s.zone(where)
		got := entriesOf(z)
		switch {
		case len(got) == 0 || !strings.Contains(got[0], " SOA "):
			return fmt.Sprintf("no SOA stands first: %q", got)
		case !slices.Equal(got[1:], want):
			return fmt.Sprintf("they are %q, not %q", got[1:], want)
		case z.Status.Hash == "" || z.Status.Serial == nil:
			return "without hash or serial"
		}
		return ""
	})
	return z
}

func entriesOf(z *kubizone.Zone) []string {
	var out []string
	for _, e := range z.Status.Entries {
		out = append(out, fmt.Sprintf("%s %d %s %s", e.FQDN, e.TTL, e.Type, e.RData))
	}
	return out
}

// noEntries waits until a Zone has no content.
func (s *scene) noEntries(where string) {
	s.t.Helper()
	s.eventually("entries of "+where, func() string {
		if z := s.zone(where); len(z.Status.Entries) > 0 || z.Status.Hash != "" || z.Status.Slices > 0 ||
			z.Status.EntryCount > 0 {
			return fmt.Sprintf("they are %q, hash %q, %d slices", entriesOf(z), z.Status.Hash, z.Status.Slices)
		}
		return ""
	})
}

// agree waits until a Zone's status is what BIND holds: the same records under the same serial.
func (s *scene) agree(where string) {
	s.t.Helper()
	s.eventually(where+" and the server", func() string {
		z := s.zone(where)
		if z.Status.Serial == nil || len(z.Status.Entries) == 0 {
			return "the status has no content"
		}
		sets, err := s.bind.Transfer(s.ctx, name(z.Status.FQDN))
		if err != nil {
			return err.Error()
		}
		var got []string
		for _, set := range sets {
			for _, data := range set.Data {
				if line := fmt.Sprintf("%s %d %s %s", set.Name, set.TTL, set.Type, data); !strings.HasSuffix(line,
					" NS localhost.") {
					got = append(got, line)
				}
			}
		}
		want := entriesOf(z)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			return fmt.Sprintf("the server has %q, the status %q", got, want)
		}
		return ""
	})
}

// writes counts the operator's writes to the API server and its changes of servers.
func (s *scene) writes() string {
	s.t.Helper()
	m, err := s.op.Metrics("zonefold_")
	if err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for sample, v := range m {
		if strings.HasPrefix(sample, "zonefold_api_writes_total") || strings.HasPrefix(sample,
			"zonefold_backend_changed_sets_total") {
			out = append(out, fmt.Sprintf("%s %v", sample, v))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// metric returns the sum of all samples of a metric.
func (s *scene) metric(prefix string) float64 {
	s.t.Helper()
	m, err := s.op.Metrics(prefix)
	if err != nil {
		s.t.Fatal(err)
	}
	sum := 0.0
	for _, v := range m {
		sum += v
	}
	return sum
}

// gone waits until an object does not exist any more.
func (s *scene) gone(ref string) {
	s.t.Helper()
	o := s.reference(ref).blank()
	s.eventually(ref, func() string {
		err := s.client.Get(s.ctx, client.ObjectKeyFromObject(o), o)
		switch {
		case apierrors.IsNotFound(err):
			return ""
		case err != nil:
			return err.Error()
		}
		return fmt.Sprintf("it is still there, with the finalizers %q and %s", o.GetFinalizers(), saying(conditionsOf(o)))
	})
}

func saying(list []metav1.Condition) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s=%s %s (%s)", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(out, ", ")
}
