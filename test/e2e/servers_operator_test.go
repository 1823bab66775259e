package e2e_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// A replaced is a fleet with a zone whose operators are ended.
type replaced struct {
	*site
	ns, zone string
	servers  []server
	key      key
	before   zoneText
	witness  *witness
}

// manyChanges is how many records the zone gets.
const manyChanges = 60

// TestS3AndR20TheOperatorIsReplaced ends the operators, which all tests share, in the middle of their work, at rest,
// and while they may not read what they need. It runs before those that run side by side.
func TestS3AndR20TheOperatorIsReplaced(t *testing.T) {
	s := siteFor(t)
	r := &replaced{site: s, ns: s.namespace("a"), zone: "s3.example"}
	s.manyRecords(r.ns, r.zone, 1)
	s.apply(zoneManifest, r.ns, "marker", "marker.example", "clusterRef: dns")
	s.apply(clusterManifest, r.ns, "dns", "primaryReplicas: 2, secondaryReplicas: 1")
	s.awaitReady(cluster(r.ns, "dns"))
	s.awaitZone(r.ns, "example")
	r.witness = s.watchAnswers(r.ns, asked{"r0." + r.zone, dns.TypeA, []string{"30 192.0.2.0"}},
		asked{"none." + r.zone, dns.TypeA, []string{noName}})
	r.witness.service(r.ns, s.instances(r.ns)...)
	r.servers, r.key = s.servers(r.ns), s.transferKey(r.ns, "dns")
	r.before = s.agree(r.servers, r.zone, r.key)
	for _, c := range []struct {
		sentence string
		part     func(*replaced)
	}{
		{"S3 in the middle of many changes", (*replaced).inTheMiddle},
		{"S3 at rest", (*replaced).atRest},
		{"R20 an operator that may not read records", (*replaced).withoutRights},
	} {
		s.run(c.sentence, func(s *site) {
			r.site = s
			c.part(r)
			r.witness.sawNothingWrong(s)
		})
	}
}

func (r *replaced) inTheMiddle() {
	for n := 1; n < manyChanges; n++ {
		r.apply(aManifest, r.ns, fmt.Sprintf("r%d", n), r.zone, fmt.Sprintf("r%d", n), fmt.Sprintf("192.0.2.%d", n))
		switch n {
		case manyChanges / 3: // without a word
			r.endOperators(r.leader(), client.GracePeriodSeconds(0))
		case 2 * manyChanges / 3: // the next one, which gives its lease back
			r.endOperators(r.leader())
		}
	}
	for n := range manyChanges {
		r.awaitRecord(aRecord(r.ns, fmt.Sprintf("r%d", n)))
	}
	after := r.agree(r.servers, r.zone, r.key)
	for n := range manyChanges {
		if want := fmt.Sprintf("r%d.%s.\t30\tIN\tA\t192.0.2.%d\n", n, r.zone, n); !strings.Contains(after.records+"\n",
			want) {
			r.Errorf("the zone lacks %s", want)
		}
	}
	// Each change is one serial at most, and each new leader leaves out what the one before may have used.
	if rise := after.soa.Serial - r.before.soa.Serial; rise == 0 || rise > manyChanges+3*serialsAhead {
		r.Errorf("the serial went from %d to %d with %d changes", r.before.soa.Serial, after.soa.Serial, manyChanges-1)
	}
	r.before = after
}

func (r *replaced) atRest() {
	r.awaitZone(r.ns, "example")
	r.awaitZone(r.ns, "marker")
	r.awaitReady(cluster(r.ns, "dns"))
	written := r.quiet(5 * time.Second)
	r.endOperators(nil)
	r.marker("192.0.2.1")
	r.isAsBefore("when operators were replaced")
	if writes := slices.DeleteFunc(r.writes()[written:], func(w write) bool {
		return w.ObjectRef.Name == "marker"
	}); len(writes) > 0 {
		r.Errorf("new operators have written %s", writes)
	}
}

// withoutRights has operators that may not read records. Nothing is deleted because it cannot be read.
func (r *replaced) withoutRights() {
	right := must(r.site, &rbacv1.ClusterRole{}, "", testoperator.ServiceAccount)
	cut := right.DeepCopy()
	for i := range cut.Rules {
		cut.Rules[i].Resources = slices.DeleteFunc(cut.Rules[i].Resources, func(r string) bool { return r == "arecords" })
	}
	r.setRules(cut)
	r.endOperators(nil)
	r.awaitOperators() // an old one leads for as long as it runs, with the watches that it was allowed
	r.eventually("a new operator is refused", func() string {
		out, err := r.cluster.RunKubectl(r.ctx, "logs", "-n", testoperator.Namespace, "-l", operatorLabel+
			"=zonefold-operator", "--tail=-1")
		if !strings.Contains(out, "arecords") || !strings.Contains(out, "forbidden") {
			return fmt.Sprintf("its log does not say so: %v", err)
		}
		return ""
	})
	r.remove(aRecord(r.ns, "r5"))
	r.apply(aManifest, r.ns, "blind", r.zone, "blind", "192.0.2.200")
	for range 5 {
		r.isAsBefore("while operators may not read records")
	}
	r.setRules(right)
	r.allDig(r.servers, "blind."+r.zone, dns.TypeA, "30 192.0.2.200")
	r.allDig(r.servers, "r5."+r.zone, dns.TypeA, noName)
	r.awaitRecord(aRecord(r.ns, "blind"))
	r.marker("192.0.2.2")
	r.agree(r.servers, r.zone, r.key)
}

func (r *replaced) isAsBefore(when string) {
	r.Helper()
	if after := r.agree(r.servers, r.zone, r.key); after.soa.Serial != r.before.soa.Serial ||
		after.records != r.before.records {
		r.Errorf("%s the zone went from serial %d to %d and is\n%s", when, r.before.soa.Serial, after.soa.Serial,
			after.records)
	}
}

// serialsAhead is how many serials a leader may use beyond those that it has used, and the next leader does not.
const serialsAhead = 64

const operatorLabel = "app.kubernetes.io/name"

func (s *site) setRules(role *rbacv1.ClusterRole) {
	s.Helper()
	now := must(s, &rbacv1.ClusterRole{}, "", role.Name)
	now.Rules = role.Rules
	if err := s.client.Update(s.ctx, now); err != nil {
		s.Fatal(err)
	}
}

// marker changes a record in a zone of its own, and waits for it: then there is an operator at work.
func (r *replaced) marker(address string) {
	r.Helper()
	r.apply(aManifest, r.ns, "marker", "marker.example", "www", address)
	r.allDig(r.servers, "www.marker.example", dns.TypeA, "30 "+address)
	r.awaitRecord(aRecord(r.ns, "marker"))
	r.awaitZone(r.ns, "marker")
}

// operators are the pods of the operator.
func (s *site) operators() []corev1.Pod {
	s.Helper()
	var all corev1.PodList
	if err := s.client.List(s.ctx, &all, client.InNamespace(testoperator.Namespace),
		client.MatchingLabels{operatorLabel: "zonefold-operator"}); err != nil {
		s.Fatal(err)
	}
	return all.Items
}

// awaitOperators waits until those that were ended are gone, and those that take their place are there.
func (s *site) awaitOperators() {
	s.Helper()
	s.eventually("the operator's pods", func() string {
		all := s.operators()
		if n := len(all); n != replicas || slices.ContainsFunc(all, func(p corev1.Pod) bool {
			return !p.DeletionTimestamp.IsZero()
		}) {
			return fmt.Sprintf("there are %d, some of which are being ended", n)
		}
		return ""
	})
}

// replicas is how many pods the operator has, as the chart's values say.
const replicas = 2

// leader is the pod of the operator that acts, for which its lease has its address.
func (s *site) leader() (leader *corev1.Pod) {
	s.Helper()
	s.eventually("a leader", func() string {
		lease := must(s, &coordinationv1.Lease{}, testoperator.Namespace, "zonefold-operator")
		if lease.Spec.HolderIdentity == nil || lease.Spec.RenewTime == nil ||
			time.Since(lease.Spec.RenewTime.Time) > 10*time.Second {
			return "nobody leads"
		}
		at, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
		for _, p := range s.operators() {
			if from, err := netip.ParseAddrPort(at); err == nil && from.Addr().String() == p.Status.PodIP &&
				p.DeletionTimestamp.IsZero() {
				leader = &p
				return ""
			}
		}
		return "the leader " + *lease.Spec.HolderIdentity + " is no pod"
	})
	return leader
}

// endOperators ends one pod of the operator; all of them, if none is named.
func (s *site) endOperators(one *corev1.Pod, how ...client.DeleteOption) {
	s.Helper()
	ended := s.operators()
	if one != nil {
		ended = []corev1.Pod{*one}
	}
	for _, p := range ended {
		if err := s.client.Delete(s.ctx, &p, how...); client.IgnoreNotFound(err) != nil {
			s.Fatal(err)
		}
	}
}
