package fleet

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
)

// An applying is an owner with children that are applied by hand.
type applying struct {
	*stage
	b     *Controller
	o     *owners
	owner *v1beta1.Bind9Instance
	ns    string
}

func newApplying(t *testing.T) *applying {
	t.Helper()
	s := newStage(t)
	ns := s.Namespace("a")
	b := s.start(func(*Controller) []part { return nil })
	s.Apply(
		`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: one}, spec: {role: primary}}`, ns)
	return &applying{s, b, b.instances.owners, s.Instance(ns, "one"), ns}
}

// does applies an object and complains of another result.
func (a *applying) does(desired client.Object, want objects.Result) {
	a.Helper()
	got, err := a.o.children.Apply(a.Ctx, a.owner, desired)
	if err != nil || got != want {
		a.Fatalf("applying %s came to %d and not %d: %v", desired.GetName(), got, want, err)
	}
}

// settle waits until the operator's cache has an object as it is.
func (a *applying) settle(object client.Object) {
	a.Helper()
	a.Eventually("the cache", func() string {
		cached, ok := object.DeepCopyObject().(client.Object)
		if !ok || !a.Get(object) {
			return "it is not there"
		}
		if err := a.b.Client.Get(a.Ctx, client.ObjectKeyFromObject(object), cached); err != nil {
			return err.Error()
		}
		if cached.GetResourceVersion() != object.GetResourceVersion() {
			return "the cache has " + cached.GetResourceVersion()
		}
		return ""
	})
}

func decode[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

const deployment = `
metadata: {name: one, namespace: NS, labels: {app.kubernetes.io/part-of: bindy, app: bind9}}
spec:
  replicas: 0
  strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}
  selector: {matchLabels: {app: bind9}}
  template:
    metadata: {labels: {app: bind9}}
    spec:
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: bind9}}}
      containers:
      - name: bind9
        image: bind9:9.18
        ports: [{name: dns-tcp, containerPort: 5353}, {name: dns-udp, containerPort: 5353, protocol: UDP}]
        env: [{name: TZ, value: UTC}, {name: LIMIT, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: "1"}}}]
        resources: {requests: {cpu: 0.1, memory: 1024Mi}, limits: {memory: 1024Mi}}
        livenessProbe: {tcpSocket: {port: 5353}, periodSeconds: 10}
        securityContext: {capabilities: {drop: [ALL]}, allowPrivilegeEscalation: false, privileged: false}
        volumeMounts: [{name: config, mountPath: /etc/bind, readOnly: true}, {name: cache, mountPath: /var/cache/bind}]
      volumes:
      - {name: cache, emptyDir: {sizeLimit: 1024Mi}}
      - {name: config, projected: {sources: [{configMap: {name: c, items: [{key: a, path: b}]}}, {secret: {name: k}}]}}
`

func (a *applying) deployment(edit ...string) *appsv1.Deployment {
	a.Helper()
	return decode[appsv1.Deployment](a.T, strings.NewReplacer(append([]string{"NS", a.ns}, edit...)...).Replace(
		deployment))
}

func TestAppliedOnceAndThenOnlyWhenSomethingChanges(t *testing.T) {
	a := newApplying(t)
	live := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: "one"}}
	a.does(a.deployment(), objects.Created)
	a.does(a.deployment(), objects.Unchanged) // the cache may lag behind
	a.settle(live)
	a.does(a.deployment(), objects.Unchanged)
	a.o = New(a.b.Config).instances.owners // as another leader, which knows only what is in the cluster
	a.does(a.deployment(), objects.Unchanged)
	if a.Writes.Total() != 1 {
		t.Errorf("there were %s", a.Writes)
	}

	for sentence, body := range map[string]string{
		"a value":                `{"spec":{"replicas":3}}`,
		"a nested one":           `{"spec":{"template":{"spec":{"securityContext":{"runAsNonRoot":false}}}}}`,
		"a label":                `{"metadata":{"labels":{"app":"other"}}}`,
		"the label of the cache": `{"metadata":{"labels":{"app.kubernetes.io/part-of":null}}}`,
		"the owner":              `{"metadata":{"ownerReferences":null}}`,
		"the hash":               `{"metadata":{"annotations":{"zonefold.dev/applied":null}}}`,
	} {
		a.Patch(live, body)
		if sentence != "the label of the cache" {
			a.settle(live)
		} else {
			a.Eventually("the cache", func() string {
				if a.b.Client.Get(a.Ctx, client.ObjectKeyFromObject(live), live.DeepCopy()) == nil {
					return "it has it still"
				}
				return ""
			})
		}
		if got, err := a.o.children.Apply(a.Ctx, a.owner, a.deployment()); err != nil || got != objects.Updated {
			t.Errorf("somebody changed %s, and applying came to %d: %v", sentence, got, err)
		}
		a.settle(live)
		a.does(a.deployment(), objects.Unchanged)
	}

	a.Patch(live,
		`{"metadata":{"annotations":{"note":"mine"},"finalizers":["example.org/wait"]},"spec":{"minReadySeconds":7}}`)
	if err := a.Live.Patch(a.Ctx, live, client.RawPatch(types.StrategicMergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"mine","image":"x"}]}}}}`))); err != nil {
		t.Fatal(err)
	}
	a.settle(live)
	a.does(a.deployment(), objects.Unchanged)

	// What we do not want any more goes; what others put beside it stays.
	a.does(a.deployment("env: [{name: TZ, value: UTC}, {name: LIMIT,", "env: [{name: LIMIT,", ", periodSeconds: 10", ""),
		objects.Updated)
	a.settle(live)
	spec := live.Spec.Template.Spec
	if n := len(spec.Containers); n != 2 || live.Annotations["note"] != "mine" || len(live.Finalizers) != 1 ||
		live.Spec.MinReadySeconds != 7 {
		t.Errorf("what others put there is gone: %d containers, %v, %v", n, live.Annotations, live.Finalizers)
	}
	for _, c := range spec.Containers {
		if c.Name == "bind9" && (len(c.Env) != 1 || c.Env[0].Name != "LIMIT") {
			t.Errorf("the environment is %v", c.Env)
		}
	}

	a.Remove(live)
	a.settle(live)
	a.does(a.deployment(), objects.Ending) // somebody's finalizer holds it
	a.Patch(live, `{"metadata":{"finalizers":null}}`)
	a.Eventually("the object anew", func() string {
		if got, err := a.o.children.Apply(a.Ctx, a.owner, a.deployment()); got != objects.Created {
			return fmt.Sprintf("it came to %d: %v", got, err)
		}
		return ""
	})
}

func TestWhatSomebodyElseHasIsLeftAlone(t *testing.T) {
	a := newApplying(t)
	service := func(name string, labels map[string]string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: name, Labels: labels},
			Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 53}}, Selector: map[string]string{"app": "mine"}}}
	}
	ours := map[string]string{v1beta1.PartOfLabel: v1beta1.PartOfValue}
	theirs := service("theirs", ours)
	parent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: "parent"}}
	if err := a.Live.Create(a.Ctx, parent); err != nil {
		t.Fatal(err)
	}
	theirs.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "parent", UID: parent.UID,
		Controller: ptr.To(true)}}
	for _, o := range []client.Object{service("made", nil), theirs, service("left", ours)} {
		if err := a.Live.Create(a.Ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"made": "the Service " + a.ns +
			"/made was not made by the operator, which leaves it alone; rename or delete it so that the operator can make " +
			"its own",
		"theirs": "the Service " + a.ns + "/theirs belongs to ConfigMap parent (uid " + string(parent.UID) +
			"), so the operator leaves it alone; rename or delete one of the two",
	} {
		_, err := a.o.children.Apply(a.Ctx, a.owner, service(name, ours))
		var notOwned *objects.NotOwnedError
		if !errors.As(err, &notOwned) || err.Error() != want {
			t.Errorf("of the Service %s it is said: %v", name, err)
		}
		live := service(name, nil)
		if a.Get(live); live.Annotations[v1beta1.AppliedAnnotation] != "" {
			t.Errorf("the Service %s was touched", name)
		}
		if did, err := a.o.children.Remove(a.Ctx, a.owner, live); did || err != nil {
			t.Errorf("the Service %s was removed: %v", name, err)
		}
	}
	a.does(service("left", ours), objects.Updated) // what its owner left behind
}

func TestNobodyWritesWhoMayNotLeadAnyMore(t *testing.T) {
	a := newApplying(t)
	a.b.Objects.Leads = func() bool { return false }
	_, applying := a.o.children.Apply(a.Ctx, a.owner, a.deployment())
	_, removing := a.o.children.Remove(a.Ctx, a.owner, a.deployment())
	_, finalizing := a.o.withFinalizer(a.Ctx, a.owner, v1beta1.InstanceFinalizer)
	reporting := a.o.writeStatus(a.Ctx, a.owner, v1beta1.Bind9InstanceStatus{}, v1beta1.Bind9InstanceStatus{ZonesCount: 1})
	for what, err := range map[string]error{"applying": applying, "a finalizer": finalizing, "a status": reporting} {
		if !errors.Is(err, objects.ErrNotLeading) {
			t.Errorf("%s came to %v", what, err)
		}
	}
	if removing != nil || a.Writes.Total() != 0 { // it is not the owner's in the first place
		t.Errorf("there were %s: %v", a.Writes, removing)
	}
}

func TestOthersFinalizersStay(t *testing.T) {
	a := newApplying(t)
	stale := a.owner.DeepCopy()
	a.Patch(a.Instance(a.ns, "one"), `{"metadata":{"finalizers":["example.org/wait"]}}`)
	if held, err := a.o.withFinalizer(a.Ctx, stale, v1beta1.InstanceFinalizer); held || !apierrors.IsConflict(err) {
		t.Errorf("of a stale object it is said: %v, %v", held, err)
	}
	if held, err := a.o.withFinalizer(a.Ctx, a.Instance(a.ns, "one"), v1beta1.InstanceFinalizer); !held || err != nil {
		t.Fatalf("of the object it is said: %v, %v", held, err)
	}
	if got := a.Instance(a.ns, "one").Finalizers; len(got) != 2 {
		t.Errorf("the finalizers are %v", got)
	}
}

func TestTheCacheHasNoSecrets(t *testing.T) {
	a := newApplying(t)
	labels := map[string]string{v1beta1.PartOfLabel: v1beta1.PartOfValue}
	said := map[string]string{corev1.LastAppliedConfigAnnotation: `{"data":{"secret":"c2VjcmV0"}}`, "note": "mine"}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: "s", Annotations: said},
		Data: map[string][]byte{"secret": []byte("secret")}}
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: "theirs", Annotations: said},
		Data: map[string]string{"a": "b"}}
	ours := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: "ours", Annotations: said,
		Labels: labels}, Data: map[string]string{"a": "b"}}
	for _, o := range []client.Object{secret, theirs, ours} {
		if err := a.Live.Create(a.Ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	a.settle(theirs.DeepCopy())
	a.settle(ours.DeepCopy())
	cached := servers.Metadata("Secret")
	a.Eventually("the cache", func() string {
		if err := a.b.Client.Get(a.Ctx, client.ObjectKeyFromObject(secret), cached); err != nil {
			return err.Error()
		}
		return ""
	})
	if got := cached.Annotations; len(got) != 1 || got["note"] != "mine" {
		t.Errorf("of the Secret there is %v", got)
	}
	for name, want := range map[string]int{"ours": 1, "theirs": 0} {
		var m corev1.ConfigMap
		if err := a.b.Client.Get(a.Ctx, client.ObjectKey{Namespace: a.ns, Name: name}, &m); err != nil ||
			len(m.Data) != want || len(m.Annotations) != want {
			t.Errorf("of the ConfigMap %s there is %v %v: %v", name, m.Data, m.Annotations, err)
		}
	}
}

func TestAStatusIsReadAsItWasWrittenLast(t *testing.T) {
	a := newApplying(t)
	var was v1beta1.Bind9InstanceStatus
	for n := range int32(20) { // in most of these the cache lags behind
		is := v1beta1.Bind9InstanceStatus{ZonesCount: n + 1}
		if err := a.o.writeStatus(a.Ctx, a.owner, was, is); err != nil {
			t.Fatal(err)
		}
		var got v1beta1.Bind9Instance
		if err := a.o.latest(a.Ctx, client.ObjectKeyFromObject(a.owner), &got); err != nil || got.Status.ZonesCount != n+1 {
			t.Fatalf("after the status with %d zones there are %d: %v", n+1, got.Status.ZonesCount, err)
		}
		was = is
	}
}
