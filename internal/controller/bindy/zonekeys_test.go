package bindy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// meanwhile calls f over and over until the returned function is called, or the test ends.
func (n *bindNode) meanwhile(f func(ctx context.Context)) (end func()) {
	ctx, cancel := context.WithCancel(n.Ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			f(ctx)
		}
	})
	end = func() { cancel(); done.Wait() }
	n.Cleanup(end)
	return end
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// projectKeys has pods get new files when their Secrets change, as a kubelet does.
func (n *bindNode) projectKeys() {
	n.meanwhile(func(ctx context.Context) {
		pause(ctx, 100*time.Millisecond)
		var all corev1.SecretList
		if err := n.Live.List(ctx, &all, client.InNamespace(n.namespace)); err != nil {
			return
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, p := range n.pods {
			for i := range all.Items {
				if name := all.Items[i].Name; name == dialect.KeySecret(p.instance) || name == dialect.TransferName("dns") {
					p.write(n, keyFiles(&all.Items[i], p.control))
				}
			}
		}
	})
}

func (p *runningPod) write(n *bindNode, files map[string]string) {
	for name, text := range files {
		path := filepath.Join(p.conf, name)
		if before, err := os.ReadFile(path); err == nil && string(before) == text {
			continue
		}
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			n.Error(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			n.Error(err)
		}
	}
}

// changing has a record get one address after the other until end, which returns the last.
func (n *bindNode) changing(name string) (end func() string) {
	last := ""
	i := 0
	stop := n.meanwhile(func(ctx context.Context) {
		i++
		next := fmt.Sprintf("192.0.3.%d", i%250)
		o := &v1beta1.ARecord{ObjectMeta: bindytest.Named(n.namespace, name)}
		// Not the context that ends: what it cuts off the API server may have done, and last would not be the last.
		if err := n.Live.Patch(n.Ctx, o, client.RawPatch("application/merge-patch+json",
			fmt.Appendf(nil, `{"spec":{"ipv4":%q}}`, next))); err == nil {
			last = next
		}
		pause(ctx, 50*time.Millisecond)
	})
	return func() string { stop(); return last }
}

// always complains whenever a ready server does not answer as it should.
func (n *bindNode) always(name, want string) (end func()) {
	return n.meanwhile(func(ctx context.Context) {
		n.mu.Lock()
		at := map[string]string{}
		for _, p := range n.pods {
			if p.ready {
				at[p.dns] = p.name
			}
		}
		n.mu.Unlock()
		for address, pod := range at {
			if got := ask(address, name, dns.TypeA); got != want && ctx.Err() == nil && !strings.Contains(got, address) &&
				!strings.Contains(got, "EOF") {
				n.Errorf("%s answers %q for %s", pod, got, name)
				return
			}
		}
		pause(ctx, 5*time.Millisecond)
	})
}

// inUse are the names of the keys that are in use: of each instance, and of the cluster for transfers.
func (n *bindNode) inUse() map[string]string {
	n.Helper()
	var all corev1.SecretList
	if err := n.Live.List(n.Ctx, &all, client.InNamespace(n.namespace)); err != nil {
		n.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range all.Items {
		if name, ok := s.Data[bind9.ItemName]; ok && strings.HasPrefix(s.Name, "dns-") {
			out[s.Name] = string(name)
		}
	}
	return out
}

// TestZonesOutliveTheirKeys has all keys of a cluster replaced while records change: no update fails, no server stops
// answering, and secondaries go on transferring after the keys of before are gone.
func TestZonesOutliveTheirKeys(t *testing.T) {
	s, n := zoneStage(t, "keys")
	n.projectKeys()
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Cluster, metadata: {namespace: %s, name: dns}, spec: {
		primary: {replicas: 2, rndcKey: {autoRotate: true, rotateAfter: 720h}}, secondary: {replicas: 1, rndcKey: {autoRotate: true, rotateAfter: 720h}}}}`, n.namespace)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.Apply(addressRecord, n.namespace, "rock", "192.0.2.200")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("every server", func() string { return n.answers(3, "rock.example.com.", dns.TypeA, "192.0.2.200") })
	n.always("rock.example.com.", "192.0.2.200")
	changes := n.changing("www")
	before := n.tally()

	look := func() { // the operator's clock has moved, which no event tells
		for _, o := range []client.Object{
			&v1beta1.Bind9Cluster{ObjectMeta: bindytest.Named(n.namespace, "dns")},
			&v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, "dns-primary-0")},
			&v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, "dns-primary-1")},
			&v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, "dns-secondary-0")},
		} {
			s.Patch(o, fmt.Sprintf(`{"metadata":{"annotations":{"looked-at":"%d"}}}`, time.Now().UnixNano()))
		}
	}
	all := func(what, suffix string) {
		s.Eventually(what, func() string {
			keys := n.inUse()
			if len(keys) != 4 {
				return fmt.Sprint(keys)
			}
			for _, name := range keys {
				if !strings.HasSuffix(name, suffix) {
					return fmt.Sprint(keys)
				}
			}
			return ""
		})
	}
	s.Ahead.Add(721 * 3600)
	look()
	all("another key everywhere", "-2")
	n.takesChanges("with the other keys") // what was signed with those of before has arrived
	s.Ahead.Add(int64(bind9.Overlap.Seconds()) + 60)
	look()
	s.Eventually("no other key", func() string {
		var all corev1.SecretList
		if err := n.Live.List(n.Ctx, &all, client.InNamespace(n.namespace)); err != nil {
			return err.Error()
		}
		for i := range all.Items {
			for item, text := range all.Items[i].Data {
				if strings.HasSuffix(item, ".key") && strings.Count(string(text), "secret \"") > 1 {
					return all.Items[i].Name + " still has several"
				}
			}
		}
		return ""
	})
	n.takesChanges("after the keys have been replaced")
	last := changes()
	s.Eventually("the last change", func() string { return n.answers(3, "www.example.com.", dns.TypeA, last) })
	if asked := n.tally().minus(before); asked.of("UpdateRej", "UpdateFail", "BadSIG", "XfrRej", "AXFR") > 0 {
		t.Errorf("while the keys were replaced: %s", asked)
	}
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
}

// takesChanges waits until each primary has taken some changes, and the secondary has transferred some.
func (n *bindNode) takesChanges(when string) {
	n.Helper()
	for instance, what := range map[string]string{
		"dns-primary-0": "UpdateDone", "dns-primary-1": "UpdateDone", "dns-secondary-0": "XfrSuccess"} {
		before := n.tally(instance)
		n.Eventually(what+" at "+instance+" "+when, func() string {
			return n.tally(instance).minus(before).atLeast(what, 5)
		})
	}
}
