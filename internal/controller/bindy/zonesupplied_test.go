package bindy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// supply writes the Secret that the servers have their key from.
func (n *bindNode) supply(name, secret string) {
	n.Helper()
	n.Apply(
		`{apiVersion: v1, kind: Secret, metadata: {namespace: %s, name: theirs}, stringData: {key-name: %s, secret: %s, algorithm: hmac-sha256}}`, n.namespace, name, secret)
}

// lookAtKeys has the operator look again: its clock has moved, which no event tells.
func (n *bindNode) lookAtKeys() {
	n.Helper()
	for _, instance := range []string{"dns-primary-0", "dns-primary-1", "dns-secondary-0"} {
		o := &v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, instance)}
		n.Patch(o, fmt.Sprintf(`{"metadata":{"annotations":{"looked-at":"%d"}}}`, time.Now().UnixNano()))
	}
}

// signsWith says which instance does not sign with a key yet.
func (n *bindNode) signsWith(name, secret string) string {
	for _, instance := range []string{"dns-primary-0", "dns-primary-1", "dns-secondary-0"} {
		var s corev1.Secret
		if err := n.Live.Get(n.Ctx, client.ObjectKey{Namespace: n.namespace, Name: dialect.KeySecret(instance)},
			&s); err != nil {
			return err.Error()
		}
		if string(s.Data[bind9.ItemName]) != name || string(s.Data[bind9.ItemSecret]) != secret {
			return fmt.Sprintf("%s signs with %s", instance, s.Data[bind9.ItemName])
		}
	}
	return ""
}

// TestZonesOutliveASecretThatIsReplaced has somebody replace the Secret that all servers have their key from while
// records change: by a key of another name, by another key of that name, and by nothing. No change is lost, no server
// stops answering, and the zone stays Ready.
func TestZonesOutliveASecretThatIsReplaced(t *testing.T) {
	s, n := zoneStage(t, "supplied")
	n.projectKeys()
	n.supply("team-1", bindytest.OctetsA)
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Cluster, metadata: {namespace: %s, name: dns}, spec: {
		primary: {replicas: 2, rndcKey: {secretRef: {name: theirs}}}, secondary: {replicas: 1, rndcKey: {secretRef: {name: theirs}}}}}`, n.namespace)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.Apply(addressRecord, n.namespace, "rock", "192.0.2.200")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("every server", func() string { return n.answers(3, "rock.example.com.", dns.TypeA, "192.0.2.200") })
	if why := n.signsWith("team-1", bindytest.OctetsA); why != "" {
		t.Fatal(why)
	}
	n.always("rock.example.com.", "192.0.2.200")
	changes, before := n.changing("www"), n.tally()
	noneRefused := func(when string, before tally, more ...string) {
		t.Helper()
		if asked := n.tally().minus(before); asked.of(append(more, "UpdateRej", "UpdateFail", "XfrRej", "AXFR")...) > 0 {
			t.Errorf("%s: %s", when, asked)
		}
	}

	n.supply("team-2", bindytest.OctetsB)
	s.Eventually("a key of another name", func() string { return n.signsWith("team-2", bindytest.OctetsB) })
	noneRefused("with a key of another name", before, "BadSIG")
	// From here on sidecars try the other secret at servers that have not read it yet, which BIND counts as bad
	// signatures.
	s.Eventually("the next key of that name", func() string {
		if why := n.signsWith("team-2", bindytest.OctetsA); why == "" {
			return ""
		}
		n.supply("team-2", bindytest.OctetsA)
		// Servers cannot have two keys of one name: one of the operator's own leads over. The clock moves by what the
		// operator waits between two looks, and never by an Overlap: the key of before would go while a change that is
		// signed with it is under way.
		s.Ahead.Add(5)
		n.lookAtKeys()
		pause(s.Ctx, time.Second) // in which files come to the servers, as a kubelet takes its time
		return n.signsWith("team-2", bindytest.OctetsA)
	})
	s.Remove(&corev1.Secret{ObjectMeta: bindytest.Named(n.namespace, "theirs")})
	s.Eventually("word that the Secret is gone", func() string {
		i := &v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, "dns-primary-0")}
		s.Get(i)
		for _, c := range i.Status.Conditions {
			if strings.Contains(c.Message, "theirs") && c.Reason == v1beta1.ReasonSecretNotFound {
				return ""
			}
		}
		return fmt.Sprintf("%+v", i.Status.Conditions)
	})
	without := n.tally()
	n.takesChanges("without the Secret")
	if why := n.signsWith("team-2", bindytest.OctetsA); why != "" {
		t.Error(why)
	}
	last := changes()
	s.Eventually("the last change", func() string { return n.answers(3, "www.example.com.", dns.TypeA, last) })
	noneRefused("while the Secret was replaced", before)
	noneRefused("without the Secret", without, "BadSIG")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
}
