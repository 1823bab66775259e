package fleet

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestMayRoll(t *testing.T) {
	due, done := member{due: true, settled: true, serves: true}, member{settled: true, serves: true}
	broken, replaced, stuck := member{}, member{due: true}, member{due: true, serves: true, rolling: true}
	trying := member{rolling: true, serves: true}
	at := func(name string, m member) member { m.name = name; return m }
	for _, c := range []struct {
		name     string
		self     member
		siblings []member
		want     decision
	}{
		{"a server without siblings", at("dns-primary-0", due), nil, decision{may: true}},
		{"the first of several", at("dns-primary-0", due), []member{at("dns-primary-1", due), at("dns-secondary-0", due)},
			decision{may: true}},
		{"one whose turn has not come", at("dns-secondary-0", due),
			[]member{at("dns-primary-1", due), at("dns-primary-0", done)}, decision{waitsFor: "dns-primary-1"}},
		{"the tenth goes after the second", at("dns-primary-10", due), []member{at("dns-primary-2", due)},
			decision{waitsFor: "dns-primary-2"}},
		{"a sibling is not ready", at("dns-primary-0", due), []member{at("dns-secondary-0", broken)},
			decision{waitsFor: "dns-secondary-0", unready: true}},
		{"a sibling is not ready and due itself", at("dns-primary-0", due), []member{at("dns-secondary-0", replaced)},
			decision{waitsFor: "dns-secondary-0", unready: true}},
		{"one that has a bad version and still serves", at("dns-primary-0", stuck), []member{at("dns-primary-1", done)},
			decision{may: true}},
		{"one that still serves, while another tries the version", at("dns-primary-1", stuck),
			[]member{at("dns-primary-0", trying)}, decision{waitsFor: "dns-primary-0", unready: true}},
		{"one that still serves, while another has a bad version, too", at("dns-primary-1", stuck),
			[]member{at("dns-primary-0", stuck)}, decision{may: true}},
		{"one that does not serve, while another tries the version", at("dns-primary-1", replaced),
			[]member{at("dns-primary-0", trying)}, decision{may: true}},
		{"one that is not ready itself", at("dns-secondary-0", replaced),
			[]member{at("dns-primary-0", broken), at("dns-primary-1", due)}, decision{may: true}},
	} {
		if got := mayRoll(c.self, c.siblings); got != c.want {
			t.Errorf("%s: %+v and not %+v", c.name, got, c.want)
		}
	}
}

// In whatever order servers ask, and whatever becomes of their pods, no more than one that was ready is not, because of
// us; and as long as pods become ready in the end, all get the new template.
func TestRollOutsNeverOverlapAndAlwaysEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := make([]member, rapid.IntRange(1, 6).Draw(t, "servers"))
		for i := range servers {
			servers[i] = member{name: fmt.Sprintf("dns-primary-%d", i), due: rapid.Bool().Draw(t, "due"),
				serves: rapid.Bool().Draw(t, "serves")}
			servers[i].settled = servers[i].serves && rapid.Bool().Draw(t, "settled")
			servers[i].rolling = !servers[i].settled && rapid.Bool().Draw(t, "rolling")
		}
		ask := func(i int) {
			var siblings []member
			for j := range servers {
				if j != i {
					siblings = append(siblings, servers[j])
				}
			}
			if !servers[i].due || !mayRoll(servers[i], siblings).may {
				return
			}
			for _, s := range siblings {
				if servers[i].settled && !s.settled || servers[i].serves && s.rolling && !s.due {
					t.Fatalf("the pods of %+v are replaced while those of %+v are", servers[i], s)
				}
			}
			servers[i].due, servers[i].settled, servers[i].rolling = false, false, true
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			i := rapid.IntRange(0, len(servers)-1).Draw(t, "server")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				servers[i].settled, servers[i].serves, servers[i].rolling = true, true, false // pods became ready
			case 1:
				servers[i].due = true // the spec changed
			default:
				ask(i)
			}
		}
		for range 2 * len(servers) {
			for i := range servers {
				servers[i].settled, servers[i].serves, servers[i].rolling = true, true, false
				ask(i)
			}
		}
		for _, s := range servers {
			if s.due {
				t.Fatalf("%s never gets its turn: %+v", s.name, servers)
			}
		}
	})
}

// templates complains unless the pods of these servers are of this image.
func (s *stage) images(namespace, image string, names ...string) string {
	s.Helper()
	for _, name := range names {
		if got := s.Deployment(namespace, name).Spec.Template.Spec.Containers; len(got) == 0 || got[0].Image != image {
			return fmt.Sprintf("%s has not the image %s: %v", name, image, got)
		}
	}
	return ""
}

func TestH6AClusterIsReplacedOneServerAtATime(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, func(p *corev1.Pod) bool { return !strings.Contains(p.Spec.Containers[0].Image, "bad") })
	s.Apply(bindytest.ClusterManifest, a, "dns", `primaryReplicas: 2, secondaryReplicas: 2`)
	names := []string{"dns-primary-0", "dns-primary-1", "dns-secondary-0", "dns-secondary-1"}
	allReady := func() {
		s.Eventually("all ready", func() string {
			return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "True", "AllReady", "4 of 4")
		})
	}
	allReady()
	s.Eventually("the parents", func() string {
		for _, name := range names {
			if st := s.Instance(a, name).Status; st.ClusterRef == nil || st.ClusterRef.Kind != "Bind9Cluster" ||
				st.ClusterRef.Namespace != a || st.ObservedParentGeneration == 0 {
				return fmt.Sprintf("%+v", st)
			}
		}
		return ""
	})
	watched := s.watchRollOuts(a)

	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"version":"9.20"}}`)
	s.Eventually("the version", func() string { return s.images(a, "zonefold/bind9:9.20", names...) })
	allReady()
	s.Eventually("the order", func() string {
		if got := watched(); got != strings.Join(names, " ") {
			return got
		}
		return ""
	})
	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"global":{"recursion":true}}}`)
	s.Eventually("the configuration", func() string {
		if got := watched(); got != strings.Join(append(names, names...), " ") {
			return got
		}
		return ""
	})
	allReady()

	// A bad version stops at the first server, and a good one goes on from there.
	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"image":{"image":"zonefold/bad:1"}}}`)
	s.Eventually("the bad image", func() string { return s.images(a, "zonefold/bad:1", names[0]) })
	s.IsInstance(a, names[0], "False", "RollingOut", "0 of 1 new ones are ready, 1 serve")
	s.Eventually("the others to wait", func() string {
		for _, name := range names[1:] {
			i := s.Instance(a, name)
			held := progress(i)
			if complaint := bindytest.Ready(i.Status.Conditions, "True", "AllReady"); complaint != "" ||
				!strings.Contains(held, names[0]) {
				return fmt.Sprintf("%s: %s %s", name, complaint, held)
			}
		}
		c := s.BindCluster(a, "dns")
		if c.Status.ReadyInstances != 3 {
			return fmt.Sprintf("%d are ready", c.Status.ReadyInstances)
		}
		return bindytest.Ready(c.Status.Conditions, "False", "RollingOut", "3 of 4 instances are ready",
			"Not ready: Bind9Instance "+names[0]+". Yet to change: Bind9Instance "+strings.Join(names[1:], ", "))
	})
	s.Quiet()
	if complaint := s.images(a, "zonefold/bind9:9.20", names[1:]...); complaint != "" {
		t.Error(complaint)
	}
	// Meanwhile the others are held to what they have, and scale.
	s.Patch(s.Deployment(a, names[1]),
		`{"spec":{"template":{"spec":{"containers":[{"name":"bind9","image":"mine"}]}},"replicas":3}}`)
	s.Eventually("what was held back is kept", func() string {
		if d := s.Deployment(a, names[1]); *d.Spec.Replicas != 1 || !rolledOut(d) { // what is not settled takes no turn
			return fmt.Sprint(*d.Spec.Replicas, d.Status)
		}
		return s.images(a, "zonefold/bind9:9.20", names[1])
	})
	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"image":{"image":"zonefold/good:1"}}}`)
	s.Eventually("the good image", func() string { return s.images(a, "zonefold/good:1", names...) })
	allReady()
}

// TestAServerThatWaitsSaysHowItsPodsAre has one server wait for another: what was wrong before with its spec is not any
// more.
func TestAServerThatWaitsSaysHowItsPodsAre(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, func(p *corev1.Pod) bool { return !strings.Contains(p.Spec.Containers[0].Image, "bad") })
	s.Apply(bindytest.ClusterManifest, a, "dns", `primaryReplicas: 2`)
	s.Eventually("all ready", func() string {
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "True", "AllReady", "2 of 2")
	})
	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"image":{"image":"zonefold/bad:1"},"global":{"allowQuery":["friends"]}}}`)
	s.IsInstance(a, "dns-primary-1", "False", "InvalidSpec", "friends")
	s.Patch(s.BindCluster(a, "dns"), `{"spec":{"global":null}}`)
	s.IsInstance(a, "dns-primary-0", "False", "RollingOut")
	s.IsInstance(a, "dns-primary-1", "True", "AllReady", "1 of 1")
	s.Eventually("whom it waits for", func() string {
		if held := progress(s.Instance(a, "dns-primary-1")); !strings.Contains(held, "dns-primary-0") {
			return held
		}
		return ""
	})
}

func progress(i *v1beta1.Bind9Instance) string {
	for _, c := range i.Status.Conditions {
		if c.Type == v1beta1.ConditionProgressing && c.Status == "True" && c.Reason == v1beta1.ReasonRollingOut {
			return c.Message
		}
	}
	return ""
}

// watchRollOuts watches that no two Deployments of a namespace replace pods at once, until the test ends, and returns
// what tells in which order they did.
func (s *stage) watchRollOuts(namespace string) func() string {
	s.Helper()
	watching, err := client.NewWithWatch(s.Config, client.Options{Scheme: s.Scheme})
	if err != nil {
		s.Fatal(err)
	}
	var list appsv1.DeploymentList
	changes, err := testoperator.Watch(s.Ctx, watching, &list, client.InNamespace(namespace))
	if err != nil {
		s.Fatal(err)
	}
	r := &rollOuts{T: s.T, templates: map[string]string{}, rolling: map[string]bool{}}
	for i := range list.Items {
		r.see(&list.Items[i])
	}
	done := make(chan struct{})
	s.Cleanup(func() { changes.Stop(); <-done })
	go func() {
		defer close(done)
		for e := range changes.ResultChan() {
			if d, ok := e.Object.(*appsv1.Deployment); ok {
				r.see(d)
			} else if s.Ctx.Err() == nil {
				r.Errorf("the watch of Deployments says %v", e.Object)
			}
		}
	}()
	return r.order
}

// rollOuts are what was seen of Deployments.
type rollOuts struct {
	*testing.T
	mu        sync.Mutex
	templates map[string]string
	rolling   map[string]bool
	went      []string
}

func (r *rollOuts) see(d *appsv1.Deployment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	template := d.Annotations[templateAnnotation]
	if before, ok := r.templates[d.Name]; ok && before != template {
		r.went = append(r.went, d.Name)
		for other, is := range r.rolling {
			if is && other != d.Name {
				r.Errorf("the pods of %s are replaced while those of %s are", d.Name, other)
			}
		}
	}
	r.templates[d.Name] = template
	r.rolling[d.Name] = !rolledOut(d)
}

func (r *rollOuts) order() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.went, " ")
}
