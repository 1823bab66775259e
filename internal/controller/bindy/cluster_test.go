package bindy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

const clusterManifest = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Cluster, metadata: {namespace: %s, name: %s}, spec: {%s}}`

// instances are all of a namespace, sorted.
func (s *stage) instances(namespace string) []v1beta1.Bind9Instance {
	s.Helper()
	var all v1beta1.Bind9InstanceList
	if err := s.live.List(s.ctx, &all, client.InNamespace(namespace)); err != nil {
		s.Fatal(err)
	}
	slices.SortFunc(all.Items, func(a, b v1beta1.Bind9Instance) int { return dialect.CompareInstances(a.Name, b.Name) })
	return all.Items
}

func (s *stage) instance(namespace, name string) *v1beta1.Bind9Instance {
	s.Helper()
	i := &v1beta1.Bind9Instance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	s.get(i)
	return i
}

// hasInstances complains unless a namespace has exactly these.
func (s *stage) hasInstances(namespace string, names ...string) string {
	s.Helper()
	var got []string
	for _, i := range s.instances(namespace) {
		got = append(got, i.Name)
	}
	if slices.Equal(got, names) {
		return ""
	}
	return fmt.Sprintf("the instances are %v and not %v", got, names)
}

// budgets are the names of the PodDisruptionBudgets of a namespace.
func (s *stage) budgets(namespace string) string {
	s.Helper()
	var all policyv1.PodDisruptionBudgetList
	if err := s.live.List(s.ctx, &all, client.InNamespace(namespace)); err != nil {
		s.Fatal(err)
	}
	var names []string
	for _, b := range all.Items {
		names = append(names, b.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestH2AClusterOfTwoPrimariesAndThreeSecondaries(t *testing.T) {
	s := newStage(t)
	a := s.namespace("a")
	s.start(hierarchy)
	s.apply(clusterManifest, a, "dns", `version: '9.18', primaryReplicas: 2, secondary: {replicas: 3, labels: {tier: edge, "bindy.firestoned.io/role": none}},
		image: {image: "registry.example/bind9:1"}, global: {bindcarConfig: {logLevel: debug}}, volumes: [{name: data, emptyDir: {}}]`)
	s.eventually("the instances", func() string {
		return s.hasInstances(a, "dns-primary-0", "dns-primary-1", "dns-secondary-0", "dns-secondary-1", "dns-secondary-2")
	})
	c := s.bindCluster(a, "dns")
	for _, i := range s.instances(a) {
		_, index, _ := dialect.CutLast(i.Name)
		role := strings.Split(i.Name, "-")[1]
		if i.Labels[v1beta1.ManagedByLabel] != "Bind9Cluster" || i.Labels[v1beta1.ClusterLabel] != "dns" ||
			i.Labels[v1beta1.RoleLabel] != role ||
			i.Annotations[v1beta1.InstanceIndexAnnotation] != index || (role == "secondary") != (i.Labels["tier"] == "edge") {
			t.Errorf("%s has the labels %v and annotations %v", i.Name, i.Labels, i.Annotations)
		}
		if string(i.Spec.Role) != role || i.Spec.ClusterRef != "dns" || *i.Spec.Replicas != 1 || i.Spec.Version != "9.18" ||
			i.Spec.Image.Image != "registry.example/bind9:1" || i.Spec.BindcarConfig.LogLevel != "debug" ||
			len(i.Spec.Volumes) != 1 {
			t.Errorf("%s is %+v", i.Name, i.Spec)
		}
		if ref := i.OwnerReferences; len(ref) != 1 || ref[0].UID != c.UID || ref[0].Kind != "Bind9Cluster" ||
			!*ref[0].Controller || !*ref[0].BlockOwnerDeletion {
			t.Errorf("%s has the owner references %+v", i.Name, ref)
		}
	}
	s.eventually("the budgets", func() string {
		if got := s.budgets(a); got != "dns-primary dns-secondary" {
			return got
		}
		return ""
	})
	s.eventually("the status", func() string {
		c := s.bindCluster(a, "dns")
		if c.Status.InstanceCount != 5 || c.Status.ObservedGeneration != c.Generation || len(c.Status.Instances) != 5 ||
			c.Status.PrimaryReplicas == nil || *c.Status.PrimaryReplicas != 2 || *c.Status.SecondaryReplicas != 3 {
			return fmt.Sprintf("%+v", c.Status)
		}
		return ready(c.Status.Conditions, "False", "NotReady", "0 of 5", "dns-primary-0")
	})
	since := s.bindCluster(a, "dns").Status.Conditions[0].LastTransitionTime
	s.markInstance(s.instance(a, "dns-primary-1"), "True")
	s.eventually("the status of one that is ready", func() string {
		return ready(s.bindCluster(a, "dns").Status.Conditions, "False", "PartiallyReady", "1 of 5", "dns-primary-0")
	})
	if now := s.bindCluster(a, "dns").Status.Conditions[0].LastTransitionTime; now != since {
		t.Errorf("the transition time moved from %s to %s, and the status did not", since, now)
	}
	s.markReady(a)
	s.eventually("the status of all ready", func() string {
		return ready(s.bindCluster(a, "dns").Status.Conditions, "True", "AllReady", "5 of 5")
	})

	// A change that no instance has heard of, and none of their specs shows, is not carried out.
	s.patch(s.bindCluster(a, "dns"), `{"spec":{"global":{"recursion":true}}}`)
	s.eventually("the status after a change", func() string {
		c := s.bindCluster(a, "dns")
		if c.Status.ObservedGeneration != c.Generation {
			return "it tells of an older spec"
		}
		return ready(c.Status.Conditions, "False", "NotReady", "0 of 5")
	})
	s.markReady(a)
	s.eventually("the status when it is carried out", func() string {
		return ready(s.bindCluster(a, "dns").Status.Conditions, "True", "AllReady", "5 of 5")
	})
}

func TestH3AClusterScales(t *testing.T) {
	s := newStage(t)
	a := s.namespace("a")
	s.start(hierarchy)
	s.apply(clusterManifest, a, "dns", `primaryReplicas: 1, secondaryReplicas: 3`)
	s.eventually("the instances", func() string {
		return s.hasInstances(a, "dns-primary-0", "dns-secondary-0", "dns-secondary-1", "dns-secondary-2")
	})
	kept := s.instance(a, "dns-secondary-2")
	s.remove(s.instance(a, "dns-secondary-1"))
	s.eventually("the gap to be filled", func() string {
		return s.hasInstances(a, "dns-primary-0", "dns-secondary-0", "dns-secondary-1", "dns-secondary-2")
	})
	if now := s.instance(a, "dns-secondary-2"); now.UID != kept.UID || now.ResourceVersion != kept.ResourceVersion {
		t.Error("a sibling was touched")
	}
	s.patch(s.bindCluster(a, "dns"), `{"spec":{"primaryReplicas":2,"secondaryReplicas":1}}`)
	s.eventually("up and down", func() string {
		return s.hasInstances(a, "dns-primary-0", "dns-primary-1", "dns-secondary-0")
	})
	s.eventually("the budgets", func() string {
		if got := s.budgets(a); got != "dns-primary" {
			return got
		}
		return ""
	})
	s.patch(s.bindCluster(a, "dns"), `{"spec":{"primaryReplicas":0,"secondaryReplicas":0}}`)
	s.eventually("zero", func() string { return s.hasInstances(a) })
	s.eventually("the status of zero", func() string {
		c := s.bindCluster(a, "dns")
		if c.Status.InstanceCount != 0 || len(c.Status.Instances) != 0 {
			return fmt.Sprintf("%+v", c.Status)
		}
		return ready(c.Status.Conditions, "False", "NoChildren")
	})
	s.patch(s.bindCluster(a, "dns"), `{"spec":{"primaryReplicas":1}}`)
	s.eventually("up from zero", func() string { return s.hasInstances(a, "dns-primary-0") })
}

func TestInstancesThatPeopleMadeAreLeftAlone(t *testing.T) {
	s := newStage(t)
	a := s.namespace("a")
	const byHand = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: %s}, spec: {clusterRef: dns, role: Secondary, version: '9.20'}}`
	s.apply(byHand, a, "mine")
	s.apply(byHand, a, "dns-secondary-0")
	mine := s.instance(a, "mine")
	s.start(hierarchy)
	s.apply(clusterManifest, a, "dns", `primaryReplicas: 1, secondaryReplicas: 2`)
	s.eventually("what is not in anybody's way", func() string {
		return s.hasInstances(a, "dns-primary-0", "dns-secondary-0", "dns-secondary-1", "mine")
	})
	s.eventually("the condition", func() string {
		return ready(s.bindCluster(a, "dns").Status.Conditions, "False", "NotOwned", "Bind9Instance "+a+
			"/dns-secondary-0 was made by somebody else")
	})
	if got := s.instance(a, "dns-secondary-0"); got.Spec.Version != "9.20" || len(got.OwnerReferences) > 0 {
		t.Errorf("somebody else's instance was touched: %+v", got)
	}
	s.remove(s.instance(a, "dns-secondary-0"))
	s.eventually("ours in its place", func() string {
		if !metav1.IsControlledBy(s.instance(a, "dns-secondary-0"), s.bindCluster(a, "dns")) {
			return "it is not ours"
		}
		return ready(s.bindCluster(a, "dns").Status.Conditions, "False", "NotReady")
	})
	s.patch(s.bindCluster(a, "dns"), `{"spec":{"primaryReplicas":0,"secondaryReplicas":0}}`)
	s.eventually("zero of ours", func() string { return s.hasInstances(a, "mine") })
	s.remove(s.bindCluster(a, "dns"))
	s.eventually("the end of the cluster", func() string { return s.isGone(s.bindCluster(a, "dns")) })
	if now := s.instance(a, "mine"); now.UID != mine.UID || now.ResourceVersion != mine.ResourceVersion {
		t.Error("an instance that somebody made was touched")
	}
}

func TestH7AndH8WhatIsOursIsRevertedAndWhatIsOthersStays(t *testing.T) {
	s := newStage(t)
	a := s.namespace("a")
	s.start(hierarchy)
	s.apply(clusterManifest, a, "dns", `version: '9.18', primaryReplicas: 2`)
	s.eventually("the instances", func() string { return s.hasInstances(a, "dns-primary-0", "dns-primary-1") })
	name := "dns-primary-0"
	s.patch(s.instance(a, name),
		`{"metadata":{"labels":{"team":"web"},"annotations":{"note":"mine"},"finalizers":["example.org/wait"]},"spec":{"storage":{"storageType":"emptyDir"}}}`)
	s.patch(s.instance(a, name),
		`{"metadata":{"labels":{"bindy.firestoned.io/role":null,"bindy.firestoned.io/cluster":"other","app.kubernetes.io/part-of":"x"}},"spec":{"version":"9.20","replicas":4}}`)
	ours := func() string {
		i := s.instance(a, name)
		if i.Spec.Version != "9.18" || *i.Spec.Replicas != 1 || i.Labels[v1beta1.RoleLabel] != "primary" ||
			i.Labels[v1beta1.ClusterLabel] != "dns" || len(i.OwnerReferences) != 1 {
			return fmt.Sprintf("%v %v %+v", i.Labels, i.OwnerReferences, i.Spec)
		}
		return ""
	}
	s.eventually("what is ours", ours)
	s.patch(s.instance(a, name), `{"metadata":{"ownerReferences":null},"spec":{"version":"9.20"}}`)
	s.eventually("what is ours, without its owner", ours)
	i := s.instance(a, name)
	if i.Labels["team"] != "web" || i.Annotations["note"] != "mine" ||
		!slices.Contains(i.Finalizers, "example.org/wait") || i.Spec.Storage == nil {
		t.Errorf("what others wrote is gone: %v %v %v", i.Labels, i.Annotations, i.Finalizers)
	}

	// The same of a built-in kind.
	budget := func() *policyv1.PodDisruptionBudget {
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: a, Name: "dns-primary"}}
		s.get(b)
		return b
	}
	s.patch(budget(),
		`{"metadata":{"labels":{"team":"web","app.kubernetes.io/part-of":null}},"spec":{"maxUnavailable":2,"unhealthyPodEvictionPolicy":"AlwaysAllow"}}`)
	s.eventually("the budget", func() string {
		b := budget()
		if b.Spec.MaxUnavailable.IntValue() != 1 || b.Labels[v1beta1.PartOfLabel] != "bindy" || b.Labels["team"] != "web" ||
			b.Spec.UnhealthyPodEvictionPolicy == nil {
			return fmt.Sprintf("%v %+v", b.Labels, b.Spec)
		}
		return ""
	})
	s.remove(budget())
	s.eventually("the budget again", func() string {
		if budget().UID == "" {
			return "it is not there"
		}
		return ""
	})

	config := func() *corev1.ConfigMap {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a, Name: "dns-config"}}
		s.get(m)
		return m
	}
	want := config().Data["named.conf"]
	for _, body := range []string{
		`{"data":{"named.conf":"mine","notes":"mine"}}`, `{"data":{"named.conf":null}}`,
		`{"metadata":{"labels":{"app.kubernetes.io/part-of":null}},"data":{"rndc.conf":""}}`,
	} {
		s.patch(config(), body)
		s.eventually("the configuration", func() string {
			m := config()
			if m.Data["named.conf"] != want || m.Data["rndc.conf"] == "" || m.Data["notes"] != "mine" ||
				m.Labels[v1beta1.PartOfLabel] != "bindy" || !metav1.IsControlledBy(m, s.bindCluster(a, "dns")) {
				return fmt.Sprintf("%v %v", m.Labels, m.Data)
			}
			return ""
		})
	}
	s.remove(config())
	s.eventually("the configuration again", func() string {
		if config().Data["named.conf"] != want {
			return "it is not there"
		}
		return ""
	})

	// What we do not want any more goes, and what others put beside it stays.
	s.patch(s.bindCluster(a, "dns"), `{"spec":{"version":"9.20","image":{"image":"registry.example/bind9:1"}}}`)
	s.eventually("a change", func() string { return s.imageOf(a, name, "registry.example/bind9:1") })
	s.patch(s.bindCluster(a, "dns"), `{"spec":{"image":null}}`)
	s.eventually("a change back", func() string { return s.imageOf(a, name, "") })
	if i := s.instance(a, name); i.Spec.Storage == nil || i.Labels["team"] != "web" {
		t.Error("what others wrote is gone")
	}
}

func (s *stage) imageOf(namespace, name, want string) string {
	got := ""
	if image := s.instance(namespace, name).Spec.Image; image != nil {
		got = image.Image
	}
	if got != want {
		return fmt.Sprintf("the image is %q and not %q", got, want)
	}
	return ""
}

func TestAConfigMapThatIsInTheWay(t *testing.T) {
	s := newStage(t)
	a := s.namespace("a")
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a, Name: "dns-config"}, Data: map[string]string{
		"a": "b"}}
	if err := s.live.Create(s.ctx, theirs); err != nil {
		t.Fatal(err)
	}
	s.start(hierarchy)
	s.apply(clusterManifest, a, "dns", `primaryReplicas: 1`)
	s.eventually("the condition", func() string {
		return ready(s.bindCluster(a, "dns").Status.Conditions, "False", "NotOwned", "ConfigMap "+a+
			"/dns-config was made by somebody else")
	})
	if s.get(theirs); theirs.Data["named.conf"] != "" {
		t.Error("somebody else's ConfigMap was touched")
	}
	s.remove(theirs)
	s.eventually("ours in its place", func() string {
		if s.get(theirs); theirs.Data["named.conf"] == "" {
			return fmt.Sprint(theirs.Data)
		}
		return ready(s.bindCluster(a, "dns").Status.Conditions, "False", "NotReady")
	})
}

func TestAProviderIsDeletedWithAllBelowIt(t *testing.T) {
	s := newStage(t)
	a, b := s.namespace("a"), s.namespace("b")
	s.start(hierarchy)
	s.apply(providerManifest, s.word, a+","+b, "primaryReplicas: 1")
	name := s.word + "-primary-0"
	for _, namespace := range []string{a, b} {
		s.eventually("the instances", func() string { return s.hasInstances(namespace, name) })
	}
	s.patch(s.instance(a, name), `{"metadata":{"finalizers":["example.org/wait"]}}`)
	s.remove(s.provider(s.word))
	s.eventually("what is not held up", func() string { return s.isGone(s.bindCluster(b, s.word)) })
	s.eventually("what the provider waits for", func() string {
		return ready(s.provider(s.word).Status.Conditions, "False", "Deleting", "waits for Bind9Cluster "+a+"/"+s.word)
	})
	s.eventually("what the cluster waits for", func() string {
		return ready(s.bindCluster(a, s.word).Status.Conditions, "False", "Deleting", "waits for Bind9Instance "+name)
	})
	before := s.quiet()
	s.patch(s.instance(a, name), `{"metadata":{"finalizers":null}}`)
	s.eventually("the end", func() string { return s.isGone(s.provider(s.word)) })
	if complaint := s.hasInstances(a) + s.hasInstances(b); complaint != "" {
		t.Error(complaint)
	}
	if after := s.quiet(); after-before > 6 { // two of them delete what the cluster shared
		t.Errorf("the end took %d writes: %s", after-before, s.writes)
	}
}

func TestAClusterWhoseSpecAnOlderSchemaLetIn(t *testing.T) {
	s := newStage(t)
	s.loosen("bind9clusters")
	a := s.namespace("a")
	s.start(hierarchy)
	s.apply(clusterManifest, a, "dns", `primaryReplicas: 2`)
	s.eventually("the instances", func() string { return s.hasInstances(a, "dns-primary-0", "dns-primary-1") })
	s.markReady(a)
	s.eventually("the status", func() string {
		return ready(s.bindCluster(a, "dns").Status.Conditions, "True", "AllReady")
	})
	s.patchAnyway(s.bindCluster(a, "dns"), `{"spec":{"primaryReplicas":0,"primary":{"replicas":1}}}`)
	s.eventually("the condition", func() string {
		return ready(s.bindCluster(a, "dns").Status.Conditions, "False", "InvalidSpec", "Nothing was changed",
			"remove one of the two")
	})
	s.quiet()
	if complaint := s.hasInstances(a, "dns-primary-0", "dns-primary-1"); complaint != "" {
		t.Error(complaint)
	}
	if got := s.bindCluster(a, "dns").Status; got.ReadyInstances != 2 {
		t.Errorf("the status does not tell of what runs: %+v", got)
	}
}

func TestNamesThatServicesCannotHave(t *testing.T) {
	for name, want := range map[string]string{
		strings.Repeat("n", 60): "at least 10 shorter",
		"a.b":                   "only letters, digits and hyphens",
		"9digits":               "begins with a letter",
		strings.Repeat("n", 50): "", // dns-secondary-99 with it has 63
		strings.Repeat("n", 51): "at least 1 shorter",
	} {
		err := dialect.CheckClusterName("Bind9Cluster", name, 1, 100)
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("of %s it is said: %s", name, got)
		}
	}
}

func TestFiftyInstancesAndThenNothing(t *testing.T) {
	s := newStage(t)
	a := s.namespace("a")
	s.start(hierarchy)
	s.apply(clusterManifest, a, "dns", `primaryReplicas: 20, secondaryReplicas: 30, version: '9.18', image: {image: "registry.example/bind9:1"},
		volumes: [{name: data, emptyDir: {sizeLimit: 1024Mi}}], volumeMounts: [{name: data, mountPath: /data/x}],
		global: {allowQuery: [any], bindcarConfig: {resources: {limits: {memory: 1024Mi}}, envVars: [{name: A, value: b}]}}`)
	s.eventually("the instances", func() string {
		if n := len(s.instances(a)); n != 50 {
			return fmt.Sprint(n)
		}
		return ""
	})
	made := s.quiet()
	t.Logf("50 instances took %d writes: %s", made, s.writes)
	if made > 50+10 {
		t.Errorf("50 instances took %d writes: %s", made, s.writes)
	}
	if got := s.told(); len(got) != 1 || !strings.Contains(got[0],
		"Made Bind9Instance dns-primary-0, dns-primary-1, dns-primary-2, dns-primary-3, dns-primary-4 and 45 more.") {
		t.Errorf("it was told: %v", got)
	}
	s.writes.reset()
	s.markReady(a)
	s.eventually("the status", func() string {
		return ready(s.bindCluster(a, "dns").Status.Conditions, "True", "AllReady", "50 of 50")
	})
	t.Logf("their readiness took %d writes: %s", s.quiet(), s.writes)

	// What others do to the objects, and another leader, change nothing.
	s.writes.reset()
	s.patch(s.instance(a, "dns-primary-7"), `{"metadata":{"labels":{"team":"web"}}}`)
	s.patch(s.bindCluster(a, "dns"), `{"metadata":{"annotations":{"bindy.firestoned.io/reconcile-trigger":"now"}}}`)
	s.patch(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: a}}, `{"metadata":{"labels":{"team":"web"}}}`)
	s.quiet()
	s.stop()
	s.start(hierarchy)
	if n := s.quiet(); n != 0 {
		t.Errorf("idle, there were %d writes: %s", n, s.writes)
	}
	if got := s.told(); len(got) > 0 {
		t.Errorf("idle, it was told: %v", got)
	}
}
