package bindy

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// A tally is what the servers of the node were asked since they started: of the sidecars by method and path, of BIND by
// its own words.
type tally map[string]int

func (t tally) minus(before tally) tally {
	out := tally{}
	for what, n := range t {
		if n != before[what] {
			out[what] = n - before[what]
		}
	}
	return out
}

// of adds up what contains one of the words.
func (t tally) of(words ...string) (n int) {
	for what, count := range t {
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(what, word) }) {
			n += count
		}
	}
	return n
}

// atLeast complains of a count that is lower.
func (t tally) atLeast(word string, count int) string {
	if n := t.of(word); n < count {
		return fmt.Sprintf("there were %d of %s: %s", n, word, t)
	}
	return ""
}

func (t tally) String() string {
	var all []string
	for _, what := range slices.Sorted(maps.Keys(t)) {
		all = append(all, fmt.Sprintf("%s: %d", what, t[what]))
	}
	return strings.Join(all, ", ")
}

var sidecarCalls = regexp.MustCompile(
	`(?m)^bindcar_http_requests_total\{method="(\w+)",path="([^"]*)",status="\d+"\} (\d+)$`)

// tally adds up what the servers of the node were asked. Probes and this question are not counted.
func (n *bindNode) tally(instances ...string) tally {
	n.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	out := tally{}
	for _, p := range n.pods {
		if len(instances) > 0 && !slices.Contains(instances, p.instance) {
			continue
		}
		for _, m := range sidecarCalls.FindAllStringSubmatch(n.fetch("http://"+net.JoinHostPort(p.address, "8080")+
			"/metrics"), -1) {
			if count, err := strconv.Atoi(m[3]); err == nil && !strings.Contains(m[2], "ready") && !strings.Contains(m[2],
				"metrics") {
				out[m[1]+" "+m[2]] += count
			}
		}
		var said struct {
			Opcodes            map[string]int
			NSStats, ZoneStats map[string]int
		}
		if err := json.Unmarshal([]byte(n.fetch(p.statistics+"/json/v1/server")), &said); err != nil {
			n.Fatal(err)
		}
		for _, group := range []map[string]int{said.Opcodes, said.NSStats, said.ZoneStats} {
			for what, count := range group {
				out["BIND "+what] += count
			}
		}
	}
	return out
}

func (n *bindNode) fetch(url string) string {
	n.Helper()
	answer, err := http.Get(url)
	if err != nil {
		n.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		n.Fatal(err)
	}
	return string(text)
}

// calm waits until the servers have been asked nothing for a while.
func (n *bindNode) calm() {
	n.Helper()
	n.Quiet()
	last, since := n.tally(), time.Now()
	n.Eventually("calm", func() string {
		now := n.tally()
		if asked := now.minus(last); len(asked) > 0 {
			last, since = now, time.Now()
		}
		if time.Since(since) < 700*time.Millisecond {
			return "the servers are still asked"
		}
		return ""
	})
}

// TestSecondariesAreToldOfEachChange has a sidecar tell the secondaries once of each change, and nobody ask for
// anything at rest.
func TestSecondariesAreToldOfEachChange(t *testing.T) {
	s, n := zoneStage(t, "told")
	s.Apply(clusterWith, n.namespace, 2, 2)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("every server", func() string { return n.answers(4, "www.example.com.", dns.TypeA, "192.0.2.1") })
	n.calm()

	var took []time.Duration
	for i := range 5 {
		before := n.tally()
		want := fmt.Sprintf("192.0.2.%d", 10+i)
		began := time.Now()
		s.Apply(addressRecord, n.namespace, "www", want)
		for ask(n.at("dns-secondary-0"), "www.example.com.", dns.TypeA) != want || ask(n.at("dns-secondary-1"),
			"www.example.com.", dns.TypeA) != want {
			if s.Ctx.Err() != nil {
				t.Fatal("the secondaries do not get the change")
			}
		}
		took = append(took, time.Since(began))
		s.Eventually("a call to tell the secondaries", func() string {
			if now := n.tally().minus(before); now.of("/notify") != 1 {
				return now.String()
			}
			return ""
		})
		n.calm()
		asked := n.tally().minus(before)
		if i == 0 {
			t.Logf("one change: %s", asked)
		}
		if asked.of("/notify") != 1 || asked.of("/refresh") > 0 || asked.of("AXFR") > 0 || asked.of("BIND UPDATE") != 2 {
			t.Errorf("for one change the servers were asked: %s", asked)
		}
	}
	slices.Sort(took)
	t.Logf("a change is on both secondaries after %v (median), %v (at most)", took[len(took)/2], took[len(took)-1])

	before := n.tally()
	s.Stop()
	s.start()
	s.Eventually("the operator at work", func() string { return n.tally().minus(before).atLeast("/settings", 4) })
	n.calm()
	if asked := n.tally().minus(before); asked.of("/notify", "/refresh", "NOTIFY", "XFR", "UPDATE") > 0 {
		t.Errorf("for an operator that starts again the servers were asked: %s", asked)
	}
	before = n.tally()
	rest := time.Now()
	s.Eventually("a while", func() string {
		if time.Since(rest) < 3*time.Second {
			return "it is not over"
		}
		return ""
	})
	if asked := n.tally().minus(before); len(asked) > 0 {
		t.Errorf("at rest the servers were asked: %s", asked)
	}
}

// TestManyZonesAtOnce has zones come to secondaries by the hundred: each is followed by one call, and nobody is had ask
// for what it gets anyway.
func TestManyZonesAtOnce(t *testing.T) {
	const zones = 100
	s, n := zoneStage(t, "many")
	s.Apply(clusterWith, n.namespace, 1, 2)
	s.Eventually("the servers", func() string { return n.answers(3, "zone-0.example.", dns.TypeSOA, "REFUSED") })
	before := n.tally()
	for i := range zones {
		s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: zone-%d}, spec: {zoneName: zone-%[2]d.example, clusterRef: dns,
			soa: {primaryNameServer: ns1.example.com, adminEmail: admin@example.com, ttl: 60}}}`, n.namespace, i)
	}
	s.Eventually("all zones", func() string {
		var all v1beta1.DNSZoneList
		if err := s.Live.List(s.Ctx, &all, client.InNamespace(n.namespace)); err != nil {
			return err.Error()
		}
		for i := range all.Items {
			conditions := all.Items[i].Status.Conditions
			if why := bindytest.Ready(conditions, metav1.ConditionTrue, v1beta1.ReasonAllConfigured); why != "" {
				return all.Items[i].Name + ": " + why
			}
		}
		return ""
	})
	n.calm()
	asked := n.tally().minus(before)
	if asked.of("POST /api/v1/zones") < 3*zones || asked.of("POST", "PATCH") > 5*zones ||
		asked.of("/refresh") > zones/10 || asked.of("AXFR") > 2*zones {
		t.Errorf("for %d zones the servers were asked: %s", zones, asked)
	}
	t.Logf("for %d zones: %s", zones, asked)
	before = n.tally()
	s.Stop()
	s.start()
	s.Eventually("the operator at work", func() string { return n.tally().minus(before).atLeast("/settings", 3*zones) })
	n.calm()
	if asked := n.tally().minus(before); asked.of("POST", "PATCH", "NOTIFY", "UPDATE") > 0 {
		t.Errorf("for an operator that starts again the servers were asked: %s", asked)
	} else {
		t.Logf("for an operator that starts again: %s", asked)
	}
}
