package gardener

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	rightSecret = "right"
	wrongSecret = "wrong"
)

// A pair is one object for us, and one for Gardener's controller that is the same otherwise.
type pair struct {
	ns, name string
	ignore   bool // Gardener's controller ignores the annotation
	values   int  // given so far
	history  []string

	retried bool   // it was changed when it was to be tried again
	stopped bool   // it has failed and is not tried again
	version string // of the object for Gardener's controller, which that is to see; "": it need not come to it
}

var halves = []string{"ours", "theirs"}

func (p *pair) key(half string) client.ObjectKey {
	return client.ObjectKey{Namespace: p.ns, Name: p.name + "-" + half}
}

// newTwins makes a namespace for pairs, in which there are credentials.
func newTwins(t *testing.T, name string) string {
	t.Helper()
	ns := newShoot(t, name)
	service := providers()[0]
	for name, data := range map[string]map[string][]byte{rightSecret: service.secret, wrongSecret: service.wrong} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Data: data}
		if err := here.client.Create(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	return ns
}

// make stores both objects.
func (p *pair) make(t *testing.T, change func(*extensionsv1alpha1.DNSRecord)) {
	t.Helper()
	for _, half := range halves {
		key := p.key(half)
		o := &extensionsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		o.Spec = goodSpec(fmt.Sprintf("%s.%s.example.net", p.name, strings.ReplaceAll(p.ns, "--", "-")))
		o.Spec.SecretRef = corev1.SecretReference{Namespace: p.ns, Name: rightSecret}
		if half == "theirs" {
			o.Spec.Type = twinType
		}
		change(o)
		status := *o.Status.DeepCopy()
		if err := here.client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		before := o.DeepCopy()
		o.Status = status
		if o.Status.ObservedGeneration != 0 {
			o.Status.ObservedGeneration = o.Generation
		}
		if err := here.client.Status().Patch(t.Context(), o, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
}

// change does the same to both objects; what is gone is gone.
func (p *pair) change(t *testing.T, what string, change func(*extensionsv1alpha1.DNSRecord)) {
	t.Helper()
	p.history = append(p.history, what)
	failing := p.failing(t)
	for _, half := range halves {
		o := &extensionsv1alpha1.DNSRecord{}
		err := here.client.Get(t.Context(), p.key(half), o)
		if err == nil {
			before := o.DeepCopy()
			change(o)
			if err = here.client.Patch(t.Context(), o, client.MergeFrom(before)); err == nil && half == "theirs" {
				p.expect(failing, before, o)
			}
		}
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
}

// expect notes what Gardener's controller is to come to after a change: what it tries again, it tries as it is by then,
// and gives up while that waits for a state.
func (p *pair) expect(failing bool, before, o *extensionsv1alpha1.DNSRecord) {
	if failing && !p.stopped {
		p.retried, p.version = true, o.ResourceVersion
	}
	operation := o.Annotations[operationKey]
	switch {
	case operation == "wait-for-state":
		p.stopped = p.stopped || failing
	case p.ignore && o.Generation != before.Generation, !p.ignore && operation != "":
		p.stopped = false
	}
}

func (p *pair) delete(t *testing.T) {
	t.Helper()
	p.history = append(p.history, "delete")
	for _, half := range halves {
		key := p.key(half)
		o := &extensionsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		if err := here.client.Delete(t.Context(), o); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
}

// look says what can be seen of an object that is the same whoever works at it.
func (p *pair) look(t *testing.T, half string) string {
	t.Helper()
	o := &extensionsv1alpha1.DNSRecord{}
	if err := here.client.Get(t.Context(), p.key(half), o); apierrors.IsNotFound(err) {
		return "gone"
	} else if err != nil {
		t.Fatal(err)
	}
	last, failure, created := "none", "none", "none"
	if l := o.Status.LastOperation; l != nil {
		last = fmt.Sprint(l.Type, " ", l.State, " ", l.Progress)
		if (l.Type == gardencorev1beta1.LastOperationTypeRestore ||
			p.retried && l.Type == gardencorev1beta1.LastOperationTypeCreate) &&
			l.State == gardencorev1beta1.LastOperationStateSucceeded {
			// Gardener's controller sees its own statuses beside the annotation, which goes last, and then reconciles once more.
			// So it does where another attempt comes between a change and the event that tells of it.
			last = fmt.Sprint(gardencorev1beta1.LastOperationTypeReconcile, " ", l.State, " ", l.Progress)
		}
	}
	if e := o.Status.LastError; e != nil {
		failure = fmt.Sprint(e.Codes)
	}
	for _, c := range o.Status.Conditions {
		if c.Type == extensionsv1alpha1.ConditionTypeCreated {
			created = string(c.Status)
		}
	}
	if l := o.Status.LastOperation; p.retried && l != nil && l.Type == gardencorev1beta1.LastOperationTypeMigrate {
		created = "perhaps" // by an attempt that saw the new spec and not yet the annotation
	}
	slices.Sort(o.Finalizers)
	return fmt.Sprintf(
		"deleted %v, finalizers %q, operation %q, last operation %s, last error %s, Created %s, observed %v, healthy %v",
		o.DeletionTimestamp != nil, o.Finalizers, o.Annotations["gardener.cloud/operation"], last, failure, created,
		o.Status.ObservedGeneration == o.Generation, health.CheckExtensionObject(o) == nil)
}

// failing reports whether both objects have failed.
func (p *pair) failing(t *testing.T) bool {
	t.Helper()
	return strings.Contains(p.look(t, "ours"), "last error [") && strings.Contains(p.look(t, "theirs"), "last error [")
}

// rests reports whether both objects look the same, nobody is at work, and Gardener's controller has come to what it
// tries again.
func (p *pair) rests(t *testing.T, w *witness) bool {
	t.Helper()
	ours, theirs := p.look(t, "ours"), p.look(t, "theirs")
	if ours != theirs || strings.Contains(ours, " Processing 1,") {
		return false
	}
	return p.version == "" || !strings.Contains(ours, "last error [") || w.saw(p.key("theirs"), p.version)
}

// agree waits until all pairs rest. What came before is under way: both controllers have come to a pair of which they
// heard afterwards.
func agree(t *testing.T, w *witness, pairs []*pair) {
	t.Helper()
	mark(t, w.ns)
	left := slices.Clone(pairs)
	end := time.NewTimer(patience)
	defer end.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		before := len(left)
		left = slices.DeleteFunc(left, func(p *pair) bool { return p.rests(t, w) })
		if len(left) == 0 {
			break
		}
		if len(left) < before { // a busy machine gets there
			end.Reset(patience)
		}
		select {
		case <-tick.C:
		case <-end.C:
			for i, p := range left {
				if i < 10 {
					t.Errorf("after %s\nour object is:    %s\nGardener's is: %s", strings.Join(p.history, "; "), p.look(t, "ours"),
						p.look(t, "theirs"))
				}
			}
			t.Fatalf("%d of %d pairs differ", len(left), len(pairs))
		}
	}
	for _, p := range pairs {
		p.version = ""
	}
}

// mark has both controllers carry out a new object. They hear of objects in the order of changes, and take them in that
// order.
func mark(t *testing.T, ns string) {
	t.Helper()
	m := &pair{ns: ns, name: fmt.Sprintf("marker-%06x", rand.N(1<<24))}
	m.make(t, func(o *extensionsv1alpha1.DNSRecord) {})
	eventually(t, "the marker is done", func() bool {
		return strings.Contains(m.look(t, "ours"), "Succeeded") && strings.Contains(m.look(t, "theirs"), "Succeeded")
	})
	m.delete(t)
	eventually(t, "the marker is gone", func() bool {
		return m.look(t, "ours") == "gone" && m.look(t, "theirs") == "gone"
	})
}
