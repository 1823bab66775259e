package backends

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

func granted(t *testing.T, grants []zone.Grant, namespace, name string) bool {
	t.Helper()
	n, err := dnsname.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone.New(zone.Options{}).Granted(grants, namespace, n)
}

func TestWhatABackendIsTold(t *testing.T) {
	b := &v1alpha1.Backend{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	b.Spec.RFC2136 = &v1alpha1.RFC2136{}
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	away := controller.Not(controller.ReasonUnavailable, "Server 192.0.2.1: no answer.")
	for _, c := range []struct {
		name     string
		trouble  *controller.Outcome
		cautions []caution
		want     string
	}{
		{"it can be used", nil, nil, "Ready=True/Ready: The Backend can be used. Restricted=True/Granted: To a."},
		{"its server is away", &away, nil,
			"Ready=False/Unavailable: Server 192.0.2.1: no answer. Restricted=True/Granted: To a."},
		{"a grant cannot be read, and it can be used", nil, []caution{{controller.ReasonInvalidGrant, "Grant 0."},
			{controller.ReasonInvalidGrant, "Grant 1."}},
			"Ready=True/Ready: The Backend can be used. Restricted=True/Granted: To a. Warning=True/InvalidGrant: " +
				"Grant 0. Grant 1."},
		{"both are wrong", &away, []caution{{controller.ReasonInvalidGrant, "Grant 0."}}, "Ready=False/Unavailable: Server " +
			"192.0.2.1: no answer. Restricted=True/Granted: To a. Warning=True/InvalidGrant: Grant 0."},
	} {
		s := status(b, findings{3, c.trouble, c.cautions, controller.OK("Granted", "To a.")}, noon)
		got := ""
		for _, condition := range s.Conditions {
			if got != "" {
				got += " "
			}
			got += condition.Type + "=" + string(condition.Status) + "/" + condition.Reason + ": " + condition.Message
		}
		if got != c.want || s.Type != "rfc2136" || s.Zones != 3 || s.ObservedGeneration != 2 {
			t.Errorf("%s: it is told\n%s\nof %+v, want\n%s", c.name, got, s, c.want)
		}
	}
}

func TestWhoSeesAddressesOfNodesIsToldThatTransfersGoByThem(t *testing.T) {
	byAddress := v1alpha1.TransferRule{Addresses: []string{"192.0.2.0/24"}}
	byKey := v1alpha1.TransferRule{TSIG: &v1alpha1.TSIG{}}
	for _, c := range []struct {
		sentence string
		hidden   bool
		embedded *v1alpha1.Embedded
		want     string
	}{
		{"addresses, which are seen", false, &v1alpha1.Embedded{Transfer: []v1alpha1.TransferRule{byAddress}}, ""},
		{"addresses that are not", true, &v1alpha1.Embedded{Transfer: []v1alpha1.TransferRule{byKey, byAddress}},
			"ClientsHidden: The entry 1 of embedded.transfer"},
		{"a key", true, &v1alpha1.Embedded{Transfer: []v1alpha1.TransferRule{byKey}}, ""},
		{"another server", true, nil, ""},
	} {
		b := &Controller{Config: Config{ClientsHidden: c.hidden}}
		got := ""
		for _, caution := range b.cautions(&v1alpha1.Backend{Spec: v1alpha1.BackendSpec{Embedded: c.embedded}}, nil) {
			got += caution.reason + ": " + caution.message
		}
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: it is told %q, want %q", c.sentence, got, c.want)
		}
	}
}

func TestAnEventIsMadeOnceForEachReason(t *testing.T) {
	b := &v1alpha1.Backend{}
	away := controller.Not(controller.ReasonUnavailable, "Server a.")
	if hasReason(nil, away.Reason) {
		t.Error("a Backend without a status has been told")
	}
	b.Status = status(b, findings{trouble: &away}, time.Time{})
	if !hasReason(b.Status.Conditions, controller.ReasonUnavailable) ||
		hasReason(b.Status.Conditions, controller.ReasonNotAuthorised) {
		t.Errorf("it is not known what was told: %+v", b.Status.Conditions)
	}
}

func TestOnlyWhatBackendsDependOnHasThemLookedAt(t *testing.T) {
	labelled := func(value string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Labels: map[string]string{"team": value}}
	}
	noted := metav1.ObjectMeta{Annotations: map[string]string{"note": "x"}}
	for _, c := range []struct {
		name          string
		before, after any
		want          bool
	}{
		{"a note at a namespace", &corev1.Namespace{}, &corev1.Namespace{ObjectMeta: noted}, false},
		{"a label of a namespace", &corev1.Namespace{ObjectMeta: labelled("a")}, &corev1.Namespace{ObjectMeta: labelled("b")},
			true},
		{"a note at a Secret", &corev1.Secret{}, &corev1.Secret{ObjectMeta: noted}, false},
		{"the consent of a Secret", &corev1.Secret{}, &corev1.Secret{ObjectMeta: labelled("a")}, true},
		{"a password", &corev1.Secret{Data: map[string][]byte{"k": []byte("a")}},
			&corev1.Secret{Data: map[string][]byte{"k": []byte("b")}}, true},
		{"our own status", &v1alpha1.Backend{}, &v1alpha1.Backend{Status: v1alpha1.BackendStatus{Zones: 1}}, false},
		{"a spec", &v1alpha1.Backend{}, &v1alpha1.Backend{ObjectMeta: metav1.ObjectMeta{Generation: 1}}, true},
		{"another Backend of the name", &v1alpha1.Backend{}, &v1alpha1.Backend{ObjectMeta: metav1.ObjectMeta{UID: "2"}},
			true},
		{"what is not known", errors.New("x"), errors.New("x"), true},
	} {
		if got := relevant(c.before, c.after); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
