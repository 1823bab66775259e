package fleet

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
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// budgets are the names of the PodDisruptionBudgets of a namespace.
func (s *stage) budgets(namespace string) string {
	s.Helper()
	var all policyv1.PodDisruptionBudgetList
	if err := s.Live.List(s.Ctx, &all, client.InNamespace(namespace)); err != nil {
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
	a := s.Namespace("a")
	s.start(hierarchy)
	s.Apply(bindytest.ClusterManifest, a, "dns", `version: '9.18', primaryReplicas: 2, secondary: {replicas: 3, labels: {tier: edge, "bindy.firestoned.io/role": none}},
		image: {image: "registry.example/bind9:1"}, global: {bindcarConfig: {logLevel: debug}}, volumes: [{name: data, emptyDir: {}}]`)
	s.Eventually("the instances", func() string {
		return s.HasInstances(a, "dns-primary-0", "dns-primary-1", "dns-secondary-0", "dns-secondary-1", "dns-secondary-2")
	})
	c := s.BindCluster(a, "dns")
	for _, i := range s.Instances(a) {
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
	s.Eventually("the budgets", func() string {
		if got := s.budgets(a); got != "dns-primary dns-secondary" {
			return got
		}
		return ""
	})
	s.Eventually("the status", func() string {
		c := s.BindCluster(a, "dns")
		if c.Status.InstanceCount != 5 || c.Status.ObservedGeneration != c.Generation || len(c.Status.Instances) != 5 ||
			c.Status.PrimaryReplicas == nil || *c.Status.PrimaryReplicas != 2 || *c.Status.SecondaryReplicas != 3 {
			return fmt.Sprintf("%+v", c.Status)
		}
		return bindytest.Ready(c.Status.Conditions, "False", "NotReady", "0 of 5", "dns-primary-0")
	})
	since := s.BindCluster(a, "dns").Status.Conditions[0].LastTransitionTime
	s.MarkInstance(s.Instance(a, "dns-primary-1"), "True")
	s.Eventually("the status of one that is ready", func() string {
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "False", "PartiallyReady", "1 of 5",
			"dns-primary-0")
	})
	if now := s.BindCluster(a, "dns").Status.Conditions[0].LastTransitionTime; now != since {
		t.Errorf("the transition time moved from %s to %s, and the status did not", since, now)
	}
	s.MarkReady(a)
	s.Eventually("the status of all ready", func() string {
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "True", "AllReady", "5 of 5")
	})

	// A change that no instance has heard of, and none of their specs shows, is not carried out.
	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"global":{"recursion":true}}}`)
	s.Eventually("the status after a change", func() string {
		c := s.BindCluster(a, "dns")
		if c.Status.ObservedGeneration != c.Generation {
			return "it tells of an older spec"
		}
		return bindytest.Ready(c.Status.Conditions, "False", "RollingOut", "5 of 5 instances are ready. Yet to change")
	})
	s.MarkReady(a)
	s.Eventually("the status when it is carried out", func() string {
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "True", "AllReady", "5 of 5")
	})
}

func TestH3AClusterScales(t *testing.T) {
	s := newStage(t)
	a := s.Namespace("a")
	s.start(hierarchy)
	s.Apply(bindytest.ClusterManifest, a, "dns", `primaryReplicas: 1, secondaryReplicas: 3`)
	s.Eventually("the instances", func() string {
		return s.HasInstances(a, "dns-primary-0", "dns-secondary-0", "dns-secondary-1", "dns-secondary-2")
	})
	kept := s.Instance(a, "dns-secondary-2")
	s.Remove(s.Instance(a, "dns-secondary-1"))
	s.Eventually("the gap to be filled", func() string {
		return s.HasInstances(a, "dns-primary-0", "dns-secondary-0", "dns-secondary-1", "dns-secondary-2")
	})
	if now := s.Instance(a, "dns-secondary-2"); now.UID != kept.UID || now.ResourceVersion != kept.ResourceVersion {
		t.Error("a sibling was touched")
	}
	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"primaryReplicas":2,"secondaryReplicas":1}}`)
	s.Eventually("up and down", func() string {
		return s.HasInstances(a, "dns-primary-0", "dns-primary-1", "dns-secondary-0")
	})
	s.Eventually("the budgets", func() string {
		if got := s.budgets(a); got != "dns-primary" {
			return got
		}
		return ""
	})
	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"primaryReplicas":0,"secondaryReplicas":0}}`)
	s.Eventually("zero", func() string { return s.HasInstances(a) })
	s.Eventually("the status of zero", func() string {
		c := s.BindCluster(a, "dns")
		if c.Status.InstanceCount != 0 || len(c.Status.Instances) != 0 {
			return fmt.Sprintf("%+v", c.Status)
		}
		return bindytest.Ready(c.Status.Conditions, "False", "NoChildren")
	})
	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"primaryReplicas":1}}`)
	s.Eventually("up from zero", func() string { return s.HasInstances(a, "dns-primary-0") })
}

func TestInstancesThatPeopleMadeAreLeftAlone(t *testing.T) {
	s := newStage(t)
	a := s.Namespace("a")
	const byHand = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: %s}, spec: {clusterRef: dns, role: Secondary, version: '9.20'}}`
	s.Apply(byHand, a, "mine")
	s.Apply(byHand, a, "dns-secondary-0")
	mine := s.Instance(a, "mine")
	s.start(hierarchy)
	s.Apply(bindytest.ClusterManifest, a, "dns", `primaryReplicas: 1, secondaryReplicas: 2`)
	s.Eventually("what is not in anybody's way", func() string {
		return s.HasInstances(a, "dns-primary-0", "dns-secondary-0", "dns-secondary-1", "mine")
	})
	s.Eventually("the condition", func() string {
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "False", "NotOwned", "Bind9Instance "+a+
			"/dns-secondary-0 was not made by the operator")
	})
	if got := s.Instance(a, "dns-secondary-0"); got.Spec.Version != "9.20" || len(got.OwnerReferences) > 0 {
		t.Errorf("somebody else's instance was touched: %+v", got)
	}
	s.Remove(s.Instance(a, "dns-secondary-0"))
	s.Eventually("ours in its place", func() string {
		if !metav1.IsControlledBy(s.Instance(a, "dns-secondary-0"), s.BindCluster(a, "dns")) {
			return "it is not ours"
		}
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "False", "NotReady")
	})
	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"primaryReplicas":0,"secondaryReplicas":0}}`)
	s.Eventually("zero of ours", func() string { return s.HasInstances(a, "mine") })
	s.Remove(s.BindCluster(a, "dns"))
	s.Eventually("the end of the cluster", func() string { return s.IsGone(s.BindCluster(a, "dns")) })
	if now := s.Instance(a, "mine"); now.UID != mine.UID || now.ResourceVersion != mine.ResourceVersion {
		t.Error("an instance that somebody made was touched")
	}
}

func TestH7AndH8WhatIsOursIsRevertedAndWhatIsOthersStays(t *testing.T) {
	s := newStage(t)
	a := s.Namespace("a")
	s.start(hierarchy)
	s.Apply(bindytest.ClusterManifest, a, "dns", `version: '9.18', primaryReplicas: 2`)
	s.Eventually("the instances", func() string { return s.HasInstances(a, "dns-primary-0", "dns-primary-1") })
	name := "dns-primary-0"
	s.Patch(s.Instance(a, name),
		`{"metadata":{"labels":{"team":"web"},"annotations":{"note":"mine"},"finalizers":["example.org/wait"]},"spec":{"storage":{"storageType":"emptyDir"}}}`)
	s.Patch(s.Instance(a, name),
		`{"metadata":{"labels":{"bindy.firestoned.io/role":null,"bindy.firestoned.io/cluster":"other","app.kubernetes.io/part-of":"x"}},"spec":{"version":"9.20","replicas":4}}`)
	ours := func() string {
		i := s.Instance(a, name)
		if i.Spec.Version != "9.18" || *i.Spec.Replicas != 1 || i.Labels[v1beta1.RoleLabel] != "primary" ||
			i.Labels[v1beta1.ClusterLabel] != "dns" || len(i.OwnerReferences) != 1 {
			return fmt.Sprintf("%v %v %+v", i.Labels, i.OwnerReferences, i.Spec)
		}
		return ""
	}
	s.Eventually("what is ours", ours)
	s.Patch(s.Instance(a, name), `{"metadata":{"ownerReferences":null},"spec":{"version":"9.20"}}`)
	s.Eventually("what is ours, without its owner", ours)
	i := s.Instance(a, name)
	if i.Labels["team"] != "web" || i.Annotations["note"] != "mine" ||
		!slices.Contains(i.Finalizers, "example.org/wait") || i.Spec.Storage == nil {
		t.Errorf("what others wrote is gone: %v %v %v", i.Labels, i.Annotations, i.Finalizers)
	}

	// The same of a built-in kind.
	budget := func() *policyv1.PodDisruptionBudget {
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: a, Name: "dns-primary"}}
		s.Get(b)
		return b
	}
	s.Patch(budget(),
		`{"metadata":{"labels":{"team":"web","app.kubernetes.io/part-of":null}},"spec":{"maxUnavailable":2,"unhealthyPodEvictionPolicy":"AlwaysAllow"}}`)
	s.Eventually("the budget", func() string {
		b := budget()
		if b.Spec.MaxUnavailable.IntValue() != 1 || b.Labels[v1beta1.PartOfLabel] != "bindy" || b.Labels["team"] != "web" ||
			b.Spec.UnhealthyPodEvictionPolicy == nil {
			return fmt.Sprintf("%v %+v", b.Labels, b.Spec)
		}
		return ""
	})
	s.Remove(budget())
	s.Eventually("the budget again", func() string {
		if budget().UID == "" {
			return "it is not there"
		}
		return ""
	})

	config := func() *corev1.ConfigMap {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a, Name: "dns-config"}}
		s.Get(m)
		return m
	}
	want := config().Data["named.conf"]
	for _, body := range []string{
		`{"data":{"named.conf":"mine","notes":"mine"}}`, `{"data":{"named.conf":null}}`,
		`{"metadata":{"labels":{"app.kubernetes.io/part-of":null}},"data":{"rndc.conf":""}}`,
	} {
		s.Patch(config(), body)
		s.Eventually("the configuration", func() string {
			m := config()
			if m.Data["named.conf"] != want || m.Data["rndc.conf"] == "" || m.Data["notes"] != "mine" ||
				m.Labels[v1beta1.PartOfLabel] != "bindy" || !metav1.IsControlledBy(m, s.BindCluster(a, "dns")) {
				return fmt.Sprintf("%v %v", m.Labels, m.Data)
			}
			return ""
		})
	}
	s.Remove(config())
	s.Eventually("the configuration again", func() string {
		if config().Data["named.conf"] != want {
			return "it is not there"
		}
		return ""
	})

	// What we do not want any more goes, and what others put beside it stays.
	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"version":"9.20","image":{"image":"registry.example/bind9:1"}}}`)
	s.Eventually("a change", func() string { return s.imageOf(a, name, "registry.example/bind9:1") })
	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"image":null}}`)
	s.Eventually("a change back", func() string { return s.imageOf(a, name, "") })
	if i := s.Instance(a, name); i.Spec.Storage == nil || i.Labels["team"] != "web" {
		t.Error("what others wrote is gone")
	}
}

func (s *stage) imageOf(namespace, name, want string) string {
	got := ""
	if image := s.Instance(namespace, name).Spec.Image; image != nil {
		got = image.Image
	}
	if got != want {
		return fmt.Sprintf("the image is %q and not %q", got, want)
	}
	return ""
}

func TestAConfigMapThatIsInTheWay(t *testing.T) {
	s := newStage(t)
	a := s.Namespace("a")
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a, Name: "dns-config"}, Data: map[string]string{
		"a": "b"}}
	if err := s.Live.Create(s.Ctx, theirs); err != nil {
		t.Fatal(err)
	}
	s.start(hierarchy)
	s.Apply(bindytest.ClusterManifest, a, "dns", `primaryReplicas: 1`)
	s.Eventually("the condition", func() string {
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "False", "NotOwned", "ConfigMap "+a+
			"/dns-config was not made by the operator")
	})
	if s.Get(theirs); theirs.Data["named.conf"] != "" {
		t.Error("somebody else's ConfigMap was touched")
	}
	s.Remove(theirs)
	s.Eventually("ours in its place", func() string {
		if s.Get(theirs); theirs.Data["named.conf"] == "" {
			return fmt.Sprint(theirs.Data)
		}
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "False", "NotReady")
	})
}

func TestAProviderIsDeletedWithAllBelowIt(t *testing.T) {
	s := newStage(t)
	a, b := s.Namespace("a"), s.Namespace("b")
	s.start(hierarchy)
	s.Apply(bindytest.ProviderManifest, s.Word, a+","+b, "primaryReplicas: 1")
	name := s.Word + "-primary-0"
	for _, namespace := range []string{a, b} {
		s.Eventually("the instances", func() string { return s.HasInstances(namespace, name) })
	}
	s.Patch(s.Instance(a, name), `{"metadata":{"finalizers":["example.org/wait"]}}`)
	s.Remove(s.Provider(s.Word))
	s.Eventually("what is not held up", func() string { return s.IsGone(s.BindCluster(b, s.Word)) })
	s.Eventually("what the provider waits for", func() string {
		return bindytest.Ready(s.Provider(s.Word).Status.Conditions, "False", "Deleting",
			"waits until Bind9Cluster "+a+"/"+s.Word)
	})
	s.Eventually("what the cluster waits for", func() string {
		return bindytest.Ready(s.BindCluster(a, s.Word).Status.Conditions, "False", "Deleting",
			"waits until Bind9Instance "+name)
	})
	before := s.Quiet()
	s.Patch(s.Instance(a, name), `{"metadata":{"finalizers":null}}`)
	s.Eventually("the end", func() string { return s.IsGone(s.Provider(s.Word)) })
	if complaint := s.HasInstances(a) + s.HasInstances(b); complaint != "" {
		t.Error(complaint)
	}
	if after := s.Quiet(); after-before > 6 { // two of them delete what the cluster shared
		t.Errorf("the end took %d writes: %s", after-before, s.Writes)
	}
}

func TestAClusterWhoseSpecAnOlderSchemaLetIn(t *testing.T) {
	s := newStage(t)
	s.Loosen("bind9clusters")
	a := s.Namespace("a")
	s.start(hierarchy)
	s.Apply(bindytest.ClusterManifest, a, "dns", `primaryReplicas: 2`)
	s.Eventually("the instances", func() string { return s.HasInstances(a, "dns-primary-0", "dns-primary-1") })
	s.MarkReady(a)
	s.Eventually("the status", func() string {
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "True", "AllReady")
	})
	s.PatchAnyway(s.BindCluster(a, "dns"), `{"spec":{"primaryReplicas":0,"primary":{"replicas":1}}}`)
	s.Eventually("the condition", func() string {
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "False", "InvalidSpec", "Nothing was changed",
			"remove one of the two")
	})
	s.Quiet()
	if complaint := s.HasInstances(a, "dns-primary-0", "dns-primary-1"); complaint != "" {
		t.Error(complaint)
	}
	if got := s.BindCluster(a, "dns").Status; got.ReadyInstances != 2 {
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
	a := s.Namespace("a")
	s.start(hierarchy)
	s.Apply(bindytest.ClusterManifest, a, "dns", `primaryReplicas: 20, secondaryReplicas: 30, version: '9.18', image: {image: "registry.example/bind9:1"},
		volumes: [{name: data, emptyDir: {sizeLimit: 1024Mi}}], volumeMounts: [{name: data, mountPath: /data/x}],
		global: {allowQuery: [any], bindcarConfig: {resources: {limits: {memory: 1024Mi}}, envVars: [{name: A, value: b}]}}`)
	s.Eventually("the instances", func() string {
		if n := len(s.Instances(a)); n != 50 {
			return fmt.Sprint(n)
		}
		return ""
	})
	made := s.Quiet()
	t.Logf("50 instances took %d writes: %s", made, s.Writes)
	if made > 50+10 {
		t.Errorf("50 instances took %d writes: %s", made, s.Writes)
	}
	if got := s.Reported(); len(got) != 1 || !strings.Contains(got[0],
		"Made Bind9Instance dns-primary-0, dns-primary-1, dns-primary-2, dns-primary-3, dns-primary-4 and 45 more.") {
		t.Errorf("it was told: %v", got)
	}
	s.Writes.Reset()
	s.MarkReady(a)
	s.Eventually("the status", func() string {
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "True", "AllReady", "50 of 50")
	})
	t.Logf("their readiness took %d writes: %s", s.Quiet(), s.Writes)

	// What others do to the objects, and another leader, change nothing.
	s.Writes.Reset()
	s.Patch(s.Instance(a, "dns-primary-7"), `{"metadata":{"labels":{"team":"web"}}}`)
	s.Patch(s.BindCluster(a, "dns"), `{"metadata":{"annotations":{"bindy.firestoned.io/reconcile-trigger":"now"}}}`)
	s.Patch(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: a}}, `{"metadata":{"labels":{"team":"web"}}}`)
	s.Quiet()
	s.Stop()
	s.start(hierarchy)
	if n := s.Quiet(); n != 0 {
		t.Errorf("idle, there were %d writes: %s", n, s.Writes)
	}
	if got := s.Reported(); len(got) > 0 {
		t.Errorf("idle, it was told: %v", got)
	}
}
