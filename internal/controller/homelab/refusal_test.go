package homelab

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestWhichAnswersAreAboutAllRecords(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"no answer", fmt.Errorf("asking: %w", dnshook.ErrUnreachable), true},
		{"a signature that is not taken", &dnshook.Error{Status: 401}, true},
		{"a caller who may not", &dnshook.Error{Status: 403}, true},
		{"too many calls", &dnshook.Error{Status: 429}, true},
		{"a server that is not available", &dnshook.Error{Status: 503}, true},
		{"a server that says when to come back", &dnshook.Error{Status: 500, RetryAfter: time.Second}, true},
		{"a record that fails", &dnshook.Error{Status: 500}, false},
		{"a record that is not taken", &dnshook.Error{Status: 400}, false},
	} {
		if got := aboutAll(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
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
		{"one without its Secret", &errSecret{text: "It is not there."}, "SecretNotFound"},
		{"one whose DNSClass cannot be used", &errClass{"The secret is too short."}, "InvalidConfiguration"},
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
	k := &Controller{Config: Config{Clock: clocktesting.NewFakeClock(time.Unix(1e9, 0))}}
	said := k.statusOf(r, k.report(r))
	if c := said.Conditions[0]; c.Reason != "ValidationFailed" || said.Error.Code != "INVALID_VALUE" ||
		said.State != v1alpha1.StateError {
		t.Errorf("it says %+v", said)
	}
	if said.FQDN != "www.example.com" {
		t.Errorf("its name is %q", said.FQDN)
	}
}
