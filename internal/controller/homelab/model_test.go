package homelab

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestTheAnswerToAWriteTellsThatSomebodyHasRemovedTheFinalizer(t *testing.T) {
	at := func(version string, finalizers ...string) *v1alpha1.DNSRecord {
		return &v1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{UID: "1", ResourceVersion: version, Finalizers: finalizers}}
	}
	r := load(at("7", v1alpha1.Finalizer))
	if !r.finalized {
		t.Fatal("an object with our finalizer has none")
	}
	// a status; the finalizer went with 8, which the cache brings when 9 is known already
	(&model{k: &Controller{Config: Config{Numbers: NewNumbers()}}}).wrote(r, at("9"), r.status)
	if r.finalized {
		t.Error("the finalizer is thought to be there")
	}
}

// TestWhatIsDoneOutlivesWhatIsLeft has a record become part of another set, and its former one be removed before its
// status was written.
func TestWhatIsDoneOutlivesWhatIsLeft(t *testing.T) {
	left := v1alpha1.Applied{Class: "dns", Type: "TXT", Domain: "example.com", Subdomain: "text", Confirmed: true}
	for _, c := range []struct {
		name string
		now  string // the set that it asks for
		want v1alpha1.RecordState
	}{
		{"of what it has become part of", "MX", v1alpha1.StateUpdated},
		{"not of what the server has no more", "TXT", ""},
	} {
		r := load(&v1alpha1.DNSRecord{Status: v1alpha1.DNSRecordStatus{State: v1alpha1.StateCreated, Applied: &left}})
		r.key = slotKey{"dns", "text.example.com", c.now}
		r.done = v1alpha1.StateUpdated
		r.drop(left)
		if r.done != c.want || r.applied != nil {
			t.Errorf("%s: it is done %q, want %q", c.name, r.done, c.want)
		}
	}
}

func TestWhatADNSClassSaysOfItsServer(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"a healthy one", nil, "ServerHealthy"},
		{"one that does not answer", fmt.Errorf("asking: %w", dnshook.ErrUnreachable), "ServerUnreachable"},
		{"one that says that it is not well", &dnshook.Error{Status: 503}, "ServerError"},
		{"one that does not take the signature", &dnshook.Error{Status: 401, Code: dnshook.CodeAuthFailed}, "ServerError"},
		{"one that answers as to a record", &dnshook.Error{Status: 400, Code: dnshook.CodeInvalidRecord}, "ServerError"},
		{"one without its Secret", &servers.SecretError{Text: "It is not there."}, "SecretNotFound"},
		{"one whose DNSClass cannot be used", &servers.ClassError{Text: "The secret is too short."}, "InvalidConfiguration"},
	} {
		if got := assess("dns", dnshook.Health{}, c.err).outcome.Reason; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestARecordThatCannotBeSentIsNotValid(t *testing.T) {
	spec := v1alpha1.DNSRecordSpec{Type: "A", Domain: "example.com", Subdomain: "www", Values: []string{"192.0.2.256"}}
	o := &v1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "www"}, Spec: spec}
	claim, wanted := dialect.ConvertRecord(o)
	r := load(o)
	r.wanted, r.verdict = wanted, zone.Verdict{Reason: claim.Invalid.Reason, Message: claim.Invalid.Message}
	p := &plan{clock: clocktesting.NewFakeClock(time.Unix(1e9, 0))}
	said := p.statusOf(r, p.report(r))
	if c := said.Conditions[0]; c.Reason != "ValidationFailed" || said.Error.Code != "INVALID_VALUE" ||
		said.State != v1alpha1.StateError {
		t.Errorf("it says %+v", said)
	}
	if said.FQDN != "www.example.com" {
		t.Errorf("its name is %q", said.FQDN)
	}
}
