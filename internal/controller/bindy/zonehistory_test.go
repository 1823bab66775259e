package bindy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/cli"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/testcluster"
)

// zonefold runs a command about the cluster, which has to end well and to print some texts. It returns all that is
// printed.
func (n *bindNode) zonefold(prints []string, args ...string) string {
	n.Helper()
	var out bytes.Buffer
	args = append([]string{"zonefold", "-n", n.namespace, "--kubeconfig", testcluster.ForTest(n.T).Kubeconfig()}, args...)
	env := cli.Env{Args: args, Stdout: &out, Stderr: &out, Stdin: strings.NewReader(""), Now: time.Now(),
		Getenv: os.Getenv}
	code := cli.Run(n.Ctx, env)
	for _, text := range prints {
		if code != 0 || !strings.Contains(out.String(), text) {
			n.Fatalf("zonefold %s ends with %d and prints %q, not %q", strings.Join(args, " "), code, out.String(), text)
		}
	}
	return out.String()
}

// writtenDown waits until the status of the zone has the serial of its only server, and returns it.
func (n *bindNode) writtenDown() string {
	n.Helper()
	o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	n.Eventually("the serial in the status", func() string {
		n.Get(o)
		if o.Status.Serial == nil || uint64(*o.Status.Serial) != n.serial() {
			return fmt.Sprint("it is ", o.Status.Serial)
		}
		return ""
	})
	return fmt.Sprint(*o.Status.Serial)
}

// TestTheHistoryOfADNSZone changes a zone, tells what did that, goes back, also over a restart, and forward again.
func TestTheHistoryOfADNSZone(t *testing.T) {
	s, n := zoneStage(t, "history")
	s.Stop()
	s.keeps = 10
	s.start()
	s.Apply(clusterWith, n.namespace, 1, 0)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	answers := func(name, want string) {
		t.Helper()
		s.Eventually(name, func() string { return n.answers(1, name+".example.com.", dns.TypeA, want) })
	}
	answers("www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	n.writtenDown()
	s.Stop() // so that the changes before are no part of those after
	s.start()
	n.zonefold([]string{"is frozen"}, "freeze", "example.com") // by an operator that has seen it before it changes
	n.zonefold([]string{"follows its objects again"}, "thaw", "example.com")
	first := n.writtenDown()
	n.zonefold([]string{`"serial": ` + first, `"rdata": "192.0.2.1"`}, "export", "example.com", "--format", "json")

	s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
	s.Apply(addressRecord, n.namespace, "new", "192.0.2.3")
	answers("www", "192.0.2.2")
	answers("new", "192.0.2.3")
	n.writtenDown()
	s.Remove(&v1beta1.ARecord{ObjectMeta: bindytest.Named(n.namespace, "new")})
	answers("new", "NXDOMAIN")
	last := n.writtenDown()
	n.zonefold([]string{last, "arecord/www -n " + n.namespace}, "history", "example.com")
	n.zonefold([]string{"serial " + last, "- www.example.com. 30 IN A 192.0.2.1\n",
		"+ www.example.com. 30 IN A 192.0.2.2\n", "arecord/new -n " + n.namespace + " (deleted)"}, "blame", "www.example.com")

	n.zonefold([]string{"- www.example.com. 30 IN A 192.0.2.2\n+ www.example.com. 30 IN A 192.0.2.1\n",
		"goes back to serial " + first + ": 1 set would change", "was rolled back to serial " + first, "and 1 set waits"},
		"rollback", "example.com", "--to", first, "--yes")
	answers("www", "192.0.2.1")
	n.zonefold([]string{`"serial": ` + n.writtenDown(), `"rdata": "192.0.2.1"`}, "export", "example.com", "--format", "json")
	s.Stop()
	s.start()
	s.Eventually("what waits after a restart", func() string {
		return n.frozenAs("was rolled back to serial "+first, "1 set waits: www.example.com. A")
	})
	n.replace("dns-primary-0")
	answers("www", "192.0.2.1")

	n.zonefold([]string{"follows its objects again"}, "thaw", "example.com")
	answers("www", "192.0.2.2")
	n.writtenDown()
	var told struct {
		Revisions []struct {
			Serial       int64
			RolledBackTo int64
			LeftOut      bool
		}
	}
	text := n.zonefold(nil, "history", "example.com", "-o", "json")
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		t.Fatal(err)
	}
	var back, gaps []string
	for _, r := range told.Revisions {
		if r.RolledBackTo != 0 {
			back = append(back, fmt.Sprint(r.RolledBackTo))
		}
		if r.LeftOut {
			gaps = append(gaps, fmt.Sprint(r.Serial))
		}
	}
	if len(back) != 1 || back[0] != first || len(gaps) != 1 {
		t.Errorf("it was rolled back to %v, and has gaps at %v: %s", back, gaps, text)
	}
	n.zonefold([]string{"was rolled back to serial " + last}, "rollback", "example.com", "--to", last, "--yes")
}
