package bindy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// answers asks every ready server of the namespace, and complains of each that does not answer as wanted: rdata with
// blanks between them, or the name of a response code.
func (n *bindNode) answers(servers int, name string, typ uint16, want string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	asked, others := 0, ""
	for _, p := range n.pods {
		if !p.ready {
			others += ", " + p.name + " is not: " + p.why
			continue
		}
		asked++
		if got := ask(p.dns, name, typ); got != want {
			return fmt.Sprintf("%s answers %q for %s", p.name, got, name)
		}
	}
	if asked != servers {
		return fmt.Sprintf("%d servers are ready%s", asked, others)
	}
	return ""
}

// witness asks every pod for an address all the time, ready or not, until the test ends: one that has the zone has all
// of it.
func (n *bindNode) witness(name string, right ...string) {
	ctx, cancel := context.WithCancel(n.Ctx)
	var done sync.WaitGroup
	n.Cleanup(func() { cancel(); done.Wait() })
	right = append(right, "REFUSED", "SERVFAIL") // it does not have the zone, or has not transferred it yet
	done.Go(func() {
		for ctx.Err() == nil {
			n.mu.Lock()
			at := map[string]string{}
			for _, p := range n.pods {
				at[p.dns] = p.name
			}
			n.mu.Unlock()
			for address, pod := range at {
				if got := ask(address, name, dns.TypeA); !slices.Contains(right, got) && !strings.Contains(got, address) &&
					!strings.Contains(got, "EOF") {
					n.Errorf("%s answers %q for %s", pod, got, name)
					return
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Millisecond):
			}
		}
	})
}

// answersAt complains if the server of an instance does not answer as wanted.
func (n *bindNode) answersAt(instance, name string, typ uint16, want string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if p.instance == instance {
			if got := ask(p.dns, name, typ); got != want {
				return fmt.Sprintf("%s answers %q for %s", p.name, got, name)
			}
			return ""
		}
	}
	return "there is no pod of " + instance
}

func ask(address, name string, typ uint16) string {
	m := new(dns.Msg)
	m.SetQuestion(name, typ)
	answer, _, err := (&dns.Client{Net: "tcp", Timeout: 2 * time.Second}).Exchange(m, address)
	if err != nil {
		return err.Error()
	}
	if answer.Rcode != dns.RcodeSuccess {
		return dns.RcodeToString[answer.Rcode]
	}
	var data []string
	for _, r := range answer.Answer {
		data = append(data, strings.TrimPrefix(r.String(), r.Header().String()))
	}
	return strings.Join(data, " ")
}

// replace removes the pod of an instance, and waits for another one: until then the first may answer.
func (n *bindNode) replace(instance string) {
	n.Helper()
	before := n.uidAt(instance)
	n.Remove(n.onePod(instance))
	n.Eventually("another pod of "+instance, func() string {
		if now := n.uidAt(instance); now == "" || now == before {
			return "there is none"
		}
		return ""
	})
}

func (n *bindNode) onePod(instance string) *corev1.Pod {
	n.Helper()
	var list corev1.PodList
	if err := n.Live.List(n.Ctx, &list, client.InNamespace(n.namespace),
		client.MatchingLabels{v1beta1.InstanceLabel: instance}); err != nil || len(list.Items) != 1 {
		n.Fatalf("the pods of %s: %d, %v", instance, len(list.Items), err)
	}
	return &list.Items[0]
}

// sameSerial complains if servers have different SOAs.
func (n *bindNode) sameSerial(servers int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	seen := map[string]int{}
	for _, p := range n.pods {
		seen[ask(p.dns, "example.com.", dns.TypeSOA)]++
	}
	if len(seen) != 1 || len(n.pods) != servers {
		return fmt.Sprint(seen)
	}
	return ""
}

// serial is that of the zone at the only server.
func (n *bindNode) serial() (serial uint64) {
	n.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		fields := strings.Fields(ask(p.dns, "example.com.", dns.TypeSOA))
		if len(fields) < 3 {
			n.Fatalf("there is no SOA: %v", fields)
		}
		if _, err := fmt.Sscan(fields[2], &serial); err != nil {
			n.Fatal(err)
		}
	}
	return serial
}

// at is where the server of an instance answers.
func (n *bindNode) at(instance string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if p.instance == instance {
			return p.dns
		}
	}
	return "nowhere"
}

// killNamed ends the BIND of an instance.
func (n *bindNode) killNamed(instance string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if p.instance == instance {
			p.named.Kill()
		}
	}
}
