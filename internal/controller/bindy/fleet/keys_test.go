package fleet

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// A keyStage is an instance whose keys are looked at when the test says so, with a clock that the test turns.
type keyStage struct {
	*stage
	b        *Controller
	now      time.Time
	instance *v1beta1.Bind9Instance
	pods     []*bindPod
}

// newKeyStage makes an instance with this spec. Nothing reconciles it.
func newKeyStage(t *testing.T, spec string) *keyStage {
	t.Helper()
	s := &keyStage{stage: newStage(t), now: time.Now().Truncate(time.Second)}
	namespace := s.Namespace("a")
	s.Apply(bindytest.InstanceManifest, namespace, "dns", `role: Primary, clusterRef: ""`+spec)
	s.instance = &v1beta1.Bind9Instance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "dns"}}
	s.b = s.start(func(*Controller) []part { return nil })
	s.b.Clock = func() time.Time { return s.now }
	s.b = New(s.b.Config)
	s.b.Servers.Clock, s.b.Servers.Token = s.b.Clock, shows(bindytest.SidecarToken)
	return s
}

// look has the operator look at the keys once. A conflict is tried again, as the guard of reconcilers does.
func (s *keyStage) look() keyReport {
	s.Helper()
	for {
		report, err := s.lookAs(s.b)
		if err == nil {
			return report
		}
		if !apierrors.IsConflict(err) {
			s.Fatal(err)
		}
	}
}

func (s *keyStage) lookAs(b *Controller) (keyReport, error) {
	s.Helper()
	if !s.Get(s.instance) {
		s.Fatal("there is no instance")
	}
	server, err := dialect.NewServer(s.instance, nil, b.Settings)
	if err != nil {
		s.Fatal(err)
	}
	var pods []corev1.Pod
	for _, p := range s.pods {
		pods = append(pods, p.pod)
	}
	return b.instances.keys.applyInstance(s.Ctx, server, pods)
}

func (s *keyStage) own() *corev1.Secret { return s.Secret(s.instance.Namespace, "dns-rndc-key") }

// inUse is the name of the key that clients sign with.
func (s *keyStage) inUse() string { return string(s.own().Data[bind9.ItemName]) }

// addPod starts a server with the Secrets as they are.
func (s *keyStage) addPod(name string) *bindPod {
	s.Helper()
	p := newBindPod(s.T, name, s.own(), s.Secret(s.instance.Namespace, "dns-transfer-key"))
	s.pods = append(s.pods, p)
	return p
}

// project gives a server the Secrets as they are, as the kubelet does after a while.
func (s *keyStage) project(p *bindPod) {
	s.Helper()
	p.project(s.own(), s.Secret(s.instance.Namespace, "dns-transfer-key"))
}

// works fails if a server does not obey who signs with the key in use.
func (s *keyStage) works(when string) {
	s.Helper()
	for _, p := range s.pods {
		if problem := p.takes(s.own()); problem != "" {
			s.Errorf("%s, %s does not take the key in use: %s", when, p.pod.Name, problem)
		}
	}
}

// until looks again and again, each time as long after as the report asks for, until a key is in use.
func (s *keyStage) until(key string) {
	s.Helper()
	s.Eventually("using "+key, func() string {
		report := s.look()
		s.works("on the way to " + key)
		if name := s.inUse(); name != key {
			s.now = s.now.Add(min(max(report.after, time.Second), 5*time.Second))
			return name + " is in use"
		}
		return ""
	})
}

func TestK1KeysAreReplacedWhileServersWork(t *testing.T) {
	s := newKeyStage(t, ", rndcKey: {autoRotate: true, rotateAfter: 1h}")
	report := s.look()
	if report.missing || len(report.troubles) > 0 || report.rotation == nil || report.rotation.RotationCount != 0 ||
		report.after != time.Hour || s.inUse() != "bindy-operator" {
		t.Fatalf("the first look: %+v, %s", report, s.inUse())
	}
	first := s.own()
	one, two := s.addPod("one"), s.addPod("two")
	s.works("at first")
	before := s.Quiet()
	s.now = s.now.Add(time.Hour - time.Second)
	if s.look(); s.Quiet() != before {
		t.Errorf("nothing was due, and there were writes: %s", s.Writes)
	}

	s.now = s.now.Add(time.Second)
	s.look()
	s.project(one)
	s.Eventually("taking both keys", func() string {
		if !one.says("bindy-operator", "bindy-operator-2") {
			return "no"
		}
		return ""
	})
	s.now = s.now.Add(time.Minute)
	if report := s.look(); s.inUse() != "bindy-operator" || report.after == 0 || report.after > 10*time.Second {
		t.Errorf("one of two servers takes the key, and %s is in use; the next look is in %s", s.inUse(), report.after)
	}
	s.works("while one server has the key")
	s.project(two)
	s.until("bindy-operator-2")
	if got := s.own().Annotations[bind9.AnnotationCount]; got != "1" {
		t.Errorf("%s keys were replaced", got)
	}
	s.project(one) // with the new key first; two is late

	s.now = s.now.Add(bind9.Overlap - time.Second)
	s.look()
	if text := string(s.own().Data["rndc.key"]); !strings.Contains(text, `"bindy-operator"`) {
		t.Error("the old key has gone too early")
	}
	s.now = s.now.Add(2 * time.Second)
	report = s.look()
	if text := string(s.own().Data["rndc.key"]); strings.Contains(text, `"bindy-operator"`) {
		t.Error("the old key is still there")
	}
	s.works("before servers know that the old key is gone")
	s.project(one)
	s.project(two)
	s.Eventually("refusing the old key", func() string {
		s.works("at last")
		if one.takes(first) == "" || two.takes(first) == "" {
			return "it is still taken"
		}
		return ""
	})
	if r := report.rotation; r == nil || r.RotationCount != 1 || r.LastRotatedAt == "" || r.RotateAt == "" ||
		r.CreatedAt == "" {
		t.Errorf("the status says %+v", r)
	}
	events := s.Reported()
	for _, what := range []string{"KeyAdded Servers get the key bindy-operator-2 too",
		"KeySwitched All servers accept the key bindy-operator-2", "KeyRemoved"} {
		if !saying(events, what) {
			t.Errorf("no event says %q: %v", what, events)
		}
	}
	s.keptSecret(events)
	s.transferRotated()
}

// transferRotated looks whether the key for transfers, which is due at the same times, has been replaced in the same
// way.
func (s *keyStage) transferRotated() {
	s.Helper()
	transfer := s.Secret(s.instance.Namespace, "dns-transfer-key")
	if name := string(transfer.Data[bind9.ItemName]); name != "bindy-transfer-2" ||
		strings.Contains(string(transfer.Data["transfer.key"]), `"bindy-transfer"`) {
		s.Errorf("the key for transfers is %s, and servers are given %d octets", name, len(transfer.Data["transfer.key"]))
	}
}

// keptSecret fails if a text holds a secret of a Secret.
func (s *keyStage) keptSecret(texts []string) {
	s.Helper()
	for _, text := range texts {
		if strings.Contains(text, string(s.own().Data[bind9.ItemSecret])) {
			s.Error("a secret has been told")
		}
	}
}

// supply is what a person does with an own key.
func (s *keyStage) supply(name, secret, algorithm string) {
	s.Helper()
	s.Apply(
		`{apiVersion: v1, kind: Secret, metadata: {namespace: %s, name: theirs}, stringData: {key-name: "%s", secret: "%s", algorithm: "%s"}}`, s.instance.Namespace, name, secret, algorithm)
}

// seen waits until the operator's look has noticed a change of somebody's Secret, and returns the report.
func (s *keyStage) seen(reason string) (report keyReport) {
	s.Helper()
	s.Eventually("noticing", func() string {
		report = s.look()
		if len(report.troubles) == 0 && reason == "" || len(report.troubles) > 0 && report.troubles[0].Reason == reason {
			return ""
		}
		return fmt.Sprintf("the troubles are %v", report.troubles)
	})
	return report
}

func TestK2KeysThatSomebodyElseMakes(t *testing.T) {
	s := newKeyStage(t, ", rndcKey: {secretRef: {name: theirs}}")
	if report := s.seen(v1beta1.ReasonSecretNotFound); !report.missing {
		t.Error("there is no key, and the servers may start")
	}
	s.supply("team-key", bindytest.OctetsA, "hmac-sha256")
	if report := s.seen(""); report.missing || s.inUse() != "team-key" || report.rotation != nil {
		t.Fatalf("%+v, %s is in use", report, s.inUse())
	}
	p := s.addPod("one")
	s.works("with their key")

	s.supply("team-key-b", bindytest.OctetsB, "hmac-sha256")
	s.Eventually("getting the other key too", func() string {
		s.look()
		if !strings.Contains(string(s.own().Data["rndc.key"]), "team-key-b") {
			return "it does not"
		}
		return ""
	})
	s.works("before the server has the other key")
	s.project(p)
	s.until("team-key-b")

	s.supply("team-key-b", bindytest.OctetsB, "hmac-sha512")
	report := s.seen(v1beta1.ReasonInvalidKey)
	if report.missing || s.inUse() != "team-key-b" ||
		!strings.Contains(report.troubles[0].Message, "Secret "+s.instance.Namespace+"/theirs") {
		t.Errorf("with a wrong algorithm: %+v, %s", report, s.inUse())
	}
	s.works("with a wrong algorithm in their Secret")
	s.Remove(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.instance.Namespace, Name: "theirs"}})
	if report := s.seen(v1beta1.ReasonSecretNotFound); report.missing || s.inUse() != "team-key-b" {
		t.Errorf("without their Secret: %+v, %s", report, s.inUse())
	}
	s.keptSecret(s.Reported())
}

func TestK2AnotherSecretUnderTheSameName(t *testing.T) {
	s := newKeyStage(t, ", rndcKey: {secretRef: {name: theirs}}")
	s.supply("team-key", bindytest.OctetsA, "hmac-sha256")
	s.seen("")
	p := s.addPod("one")
	s.supply("team-key", bindytest.OctetsB, "hmac-sha256")
	s.Eventually("giving servers the other secret", func() string {
		report := s.look()
		s.works("before servers are given the other secret")
		if strings.Contains(string(s.own().Data["rndc.key"]), bindytest.OctetsB) {
			return ""
		}
		s.project(p)
		s.now = s.now.Add(max(report.after, time.Second))
		return s.inUse() + " is in use"
	})
	// The server has a key of that name, but with the secret of before.
	for range 3 {
		s.now = s.now.Add(time.Minute)
		s.look()
		s.works("while the server has the secret of before")
	}
	if s.inUse() == "team-key" {
		t.Error("a key is in use that the server does not have")
	}
	s.project(p)
	s.until("team-key")
	if string(s.own().Data[bind9.ItemSecret]) != bindytest.OctetsB {
		t.Error("the secret of before is in use")
	}
}

func TestAChangedSecretWakesWhoHasItsKeyFromThere(t *testing.T) {
	s := newStage(t)
	namespace := s.Namespace("a")
	s.Apply(
		`{apiVersion: v1, kind: Secret, metadata: {namespace: %s, name: theirs}, stringData: {key-name: team-key, secret: %s}}`, namespace, bindytest.OctetsA)
	s.Apply(bindytest.InstanceManifest, namespace, "dns", `role: Primary, clusterRef: "", rndcKey: {secretRef: {name: theirs}}`)
	s.start(func(b *Controller) []part {
		return []part{{kind: &v1beta1.Bind9Instance{}, watches: []watch{{servers.Metadata("Secret"), b.instances.withSecret}},
			reconcile: b.onlyKeys}}
	})
	key := func(item, want string) func() string {
		return func() string {
			var got corev1.Secret
			err := s.Live.Get(s.Ctx, client.ObjectKey{Namespace: namespace, Name: "dns-rndc-key"}, &got)
			if err != nil || !strings.Contains(string(got.Data[item]), want) {
				return fmt.Sprintf("%s does not hold %s: %v", item, want, err)
			}
			return ""
		}
	}
	s.Eventually("the key", key("key-name", "team-key"))
	s.Quiet()
	s.Apply(
		`{apiVersion: v1, kind: Secret, metadata: {namespace: %s, name: theirs}, stringData: {key-name: team-key-b, secret: %s}}`, namespace, bindytest.OctetsB)
	s.Eventually("the next key", key("rndc.key", "team-key-b"))
	s.Remove(s.Secret(namespace, "dns-rndc-key"))
	s.Eventually("the key again", key("rndc.key", "team-key"))
}

// onlyKeys reconciles nothing but the keys of an instance without pods.
func (b *Controller) onlyKeys(ctx context.Context, key client.ObjectKey) (time.Duration, error) {
	var instance v1beta1.Bind9Instance
	if err := b.Client.Get(ctx, key, &instance); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	server, err := dialect.NewServer(&instance, nil, b.Settings)
	if err != nil {
		return 0, err
	}
	report, err := b.instances.keys.applyInstance(ctx, server, nil)
	return report.after, err
}
