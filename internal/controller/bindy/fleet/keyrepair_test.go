package fleet

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

func TestKeysThatAreEditedOrLost(t *testing.T) {
	s := newKeyStage(t, "")
	s.look()
	p := s.addPod("one")
	before := s.own()
	same := func(what string) {
		t.Helper()
		s.Eventually(what, func() string {
			s.look()
			var got corev1.Secret
			if err := s.Live.Get(s.Ctx, client.ObjectKeyFromObject(before), &got); err != nil {
				return err.Error()
			}
			if !maps.EqualFunc(got.Data, before.Data, bytes.Equal) || got.Labels[v1beta1.PartOfLabel] != v1beta1.PartOfValue ||
				!metav1.IsControlledBy(&got, s.instance) {
				return fmt.Sprintf("the Secret has the items %v and the labels %v", slices.Sorted(maps.Keys(got.Data)), got.Labels)
			}
			return ""
		})
		s.works(what)
	}
	other, err := bind9.RenderKeys(bind9.Key{Name: "bindy-operator", Algorithm: bind9.SHA256, Secret: bindytest.OctetsB})
	if err != nil {
		t.Fatal(err)
	}
	for what, patch := range map[string]string{
		"an item is gone":            `{"data":{"rndc.key":null}}`,
		"an item is rubbish":         `{"stringData":{"rndc.key":"rubbish"}}`,
		"the key is another":         fmt.Sprintf(`{"stringData":{"rndc.key":%q,"secret":%q}}`, other, bindytest.OctetsB),
		"the date is another":        `{"metadata":{"annotations":{"bindy.firestoned.io/rndc-created-at":"2001-01-01T00:00:00Z"}}}`,
		"labels and owners are gone": `{"metadata":{"ownerReferences":null,"labels":{"app":null}}}`,
	} {
		s.Patch(s.own(), patch)
		same(what)
	}
	s.Remove(s.own())
	same("the Secret is gone")
	if events := s.Reported(); !saying(events, "KeysRestored") {
		t.Errorf("nobody was told: %v", events)
	}

	// Another operator knows nothing of what is lost, but asks the servers.
	s.Remove(s.own())
	s.b = another(s.b)
	s.look()
	if name := s.inUse(); name != "bindy-operator-2" {
		t.Errorf("after the loss of bindy-operator, %s is in use", name)
	}
	if events := s.Reported(); !saying(events, "KeyLost") {
		t.Errorf("nobody was told: %v", events)
	}
	s.project(p)
	s.Eventually("taking the new key", func() string { return p.takes(s.own()) })
}

// TestTwoLeadersLoseNoKey has two operators that both think that they lead take every step at the same time.
func TestTwoLeadersLoseNoKey(t *testing.T) {
	s := newKeyStage(t, ", rndcKey: {autoRotate: true, rotateAfter: 1h}")
	rivals := []*Controller{s.b, another(s.b)}
	both := func() {
		t.Helper()
		var running sync.WaitGroup
		errs := make([]error, len(rivals))
		for i, b := range rivals {
			running.Go(func() { _, errs[i] = s.lookQuietly(b) })
		}
		running.Wait()
		for _, err := range errs {
			if err != nil && !apierrors.IsConflict(err) {
				t.Fatal(err)
			}
		}
	}
	seen := map[string]string{} // names and what they stand for
	for range 6 {
		for range 3 {
			both()
			ring, err := bind9.ReadRing(bind9.ForOperator, s.own().Data, s.own().Annotations)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range ring.Keys {
				if id, ok := seen[k.Name]; ok && id != k.ID() {
					t.Fatalf("the key %s has become another", k.Name)
				}
				seen[k.Name] = k.ID()
			}
		}
		s.now = s.now.Add(30 * time.Minute)
	}
	if len(seen) < 2 {
		t.Errorf("there were only the keys %v", seen)
	}
}

// lookQuietly is lookAs for several at once: nothing of the stage is written.
func (s *keyStage) lookQuietly(b *Controller) (keyReport, error) {
	instance := &v1beta1.Bind9Instance{}
	if err := s.Live.Get(s.Ctx, client.ObjectKeyFromObject(s.instance), instance); err != nil {
		return keyReport{}, err
	}
	server, err := dialect.NewServer(instance, nil, b.Settings)
	if err != nil {
		return keyReport{}, err
	}
	return b.instances.keys.applyInstance(s.Ctx, server, nil)
}

// TestAStaleReadWritesNothing has an operator write what it made of a Secret that has changed, been made or been
// replaced since.
func TestAStaleReadWritesNothing(t *testing.T) {
	s := newKeyStage(t, "")
	if !s.Get(s.instance) {
		t.Fatal("there is no instance")
	}
	task := &keyTask{
		keeper: s.b.instances.keys,
		owner:  s.instance, secret: client.ObjectKey{Namespace: s.instance.Namespace, Name: "dns-rndc-key"},
		labels:   map[string]string{v1beta1.PartOfLabel: v1beta1.PartOfValue},
		settings: bind9.Settings{Purpose: bind9.ForOperator},
	}
	other := bind9.Ring{Keys: []bind9.Key{{Name: "bindy-operator", Algorithm: bind9.SHA256, Secret: bindytest.OctetsB}},
		InUse: "bindy-operator", CreatedAt: s.now}
	stale := func(what string, live *corev1.Secret) {
		t.Helper()
		before := s.own()
		if _, err := task.publish(s.Ctx, live, other); !apierrors.IsConflict(err) {
			t.Errorf("%s: the error is %v", what, err)
		}
		if after := s.own(); after.ResourceVersion != before.ResourceVersion {
			t.Errorf("%s: the Secret was written", what)
		}
	}
	s.look()
	stale("there was no Secret", nil)
	read := s.own()
	s.Patch(s.own(), `{"metadata":{"annotations":{"somebody":"wrote"}}}`)
	stale("another version was read", read)
	read = s.own()
	s.Remove(s.own())
	s.Eventually("making it again", func() string {
		s.look()
		if s.own().UID == read.UID {
			return "it is still the same"
		}
		return ""
	})
	stale("another Secret of that name was read", read)
}

func TestAnInstanceMadeAgainHasOtherKeys(t *testing.T) {
	s := newKeyStage(t, "")
	s.look()
	before := s.own()
	s.Remove(s.instance)
	s.Eventually("the end of the Secret", func() string { return s.IsGone(before.DeepCopy()) })
	s.Apply(bindytest.InstanceManifest, s.instance.Namespace, "dns", `role: Primary, clusterRef: ""`)
	s.look()
	if after := s.own(); bytes.Equal(after.Data[bind9.ItemSecret], before.Data[bind9.ItemSecret]) {
		t.Error("the new instance has the key of the former one")
	}
}

func TestAClusterHasAKeyForTransfers(t *testing.T) {
	s := newStage(t)
	namespace := s.Namespace("a")
	s.start(hierarchy)
	s.Apply(bindytest.ClusterManifest, namespace, "dns", "primaryReplicas: 0")
	key := func() *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "dns-transfer-key"}}
	}
	var first []byte
	is := func() string {
		got := key()
		if !s.Get(got) {
			return "there is none"
		}
		if !metav1.IsControlledBy(got, s.BindCluster(namespace, "dns")) ||
			string(got.Data[bind9.ItemName]) != "bindy-transfer" || len(got.Data["named.conf.transfer"]) == 0 {
			return fmt.Sprintf("it has the items %v and the owners %v", slices.Sorted(maps.Keys(got.Data)), got.OwnerReferences)
		}
		if first != nil && !bytes.Equal(first, got.Data[bind9.ItemSecret]) {
			return "it is another"
		}
		first = got.Data[bind9.ItemSecret]
		return ""
	}
	s.Eventually("the key", is)
	s.Remove(key())
	s.Eventually("the same key again", is)
	s.Patch(key(), `{"stringData":{"secret":"edited"}}`)
	s.Eventually("the same key unedited", is)
}
