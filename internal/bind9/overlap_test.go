package bind9

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// A changer updates a zone and asks for it all the time, with the key that the published Ring says.
type changer struct {
	n      *testNamed
	ring   atomic.Pointer[Ring]
	rounds atomic.Int64
	stop   chan struct{}
	once   sync.Once
	done   sync.WaitGroup
}

func (c *changer) run(t *testing.T, worker int) {
	c.done.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-c.stop:
				return
			default:
			}
			k, _ := c.ring.Load().Key()
			if err := c.round(k, fmt.Sprintf("w%d.good.example. 60 IN TXT %d", worker, i)); err != nil {
				t.Errorf("with %s: %v", k, err)
				return
			}
			c.rounds.Add(1)
		}
	})
}

func (c *changer) end() {
	c.once.Do(func() { close(c.stop) })
	c.done.Wait()
}

// round replaces a set and reads it, both signed.
func (c *changer) round(k Key, record string) error {
	want, err := dns.NewRR(record)
	if err != nil {
		return err
	}
	m := new(dns.Msg).SetUpdate("good.example.")
	m.RemoveRRset([]dns.RR{want})
	m.Insert([]dns.RR{want})
	if reply, err := c.n.exchange(m, k.Name+".", k.Secret); err != nil || reply.Rcode != dns.RcodeSuccess {
		return fmt.Errorf("an update was answered by %v, %w", reply, err)
	}
	reply, err := c.n.exchange(new(dns.Msg).SetQuestion(want.Header().Name, dns.TypeTXT), k.Name+".", k.Secret)
	if err != nil || len(reply.Answer) != 1 || !dns.IsDuplicate(reply.Answer[0], want) {
		return fmt.Errorf("a query was answered by %v, %w", reply, err)
	}
	return nil
}

// await waits until every worker has begun a round after now.
func (c *changer) await(t *testing.T, workers int) {
	t.Helper()
	enough := c.rounds.Load() + int64(2*workers)
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for c.rounds.Load() < enough {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the clients do not come on")
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

// TestKeysRotateUnderLoad lets named follow the states of a Ring by rndc reconfig, as late as it may, while clients
// sign with the key in use: through rotations, to a supplied key, through a change of its secret, and back. No update
// and no query fails.
func TestKeysRotateUnderLoad(t *testing.T) {
	const workers = 2
	n := claimNamed(t)
	if err := n.configured(t, Options{}); err != nil {
		t.Fatal(err)
	}
	p := newPlay(t)
	p.settings.RotateAfter = time.Hour
	p.next()
	n.publish(t, ForOperator, p.ring)
	n.Keys = func() ([]Key, error) { return n.onDisk() }
	n.start(t)
	n.write(t, "data/good.db", goodZone)
	n.do(t, must(AddZone("good.example", Zone{Type: Primary, File: "good.db",
		AllowUpdate: ACL{must(ListElement(UpdateList))}})))
	c := &changer{n: n, stop: make(chan struct{})}
	first := p.ring
	c.ring.Store(&first)
	for w := range workers {
		c.run(t, w)
	}
	t.Cleanup(c.end)
	p.accepts = func(k Key) bool { return n.accepts(t, k) }
	supplied, changed := testKeyOf("1"), testKeyOf("2")
	supplied.Name, changed.Name = "supplied.example", "supplied.example"
	used := map[string]bool{}
	for _, change := range []func(){
		func() {},
		func() { p.now = p.now.Add(time.Hour) },
		func() { p.now = p.now.Add(time.Hour) },
		func() { p.settings.External = &supplied },
		func() { p.settings.External = &changed },
		func() { p.settings.External = nil },
	} {
		change()
		for settled, behind := false, false; !settled; {
			step := p.next()
			switch {
			case step.Published():
				published := p.ring
				c.ring.Store(&published) // clients are told at once
				used[published.InUse], behind = true, true
				c.await(t, workers)
			case behind: // the server comes only when nothing goes on without it
				n.publish(t, ForOperator, p.ring)
				n.do(t, must(ServerCommand("reconfig")))
				behind = false
				c.await(t, workers)
			default:
				settled = step.Move == Keep
				p.now = p.now.Add(Overlap)
			}
		}
	}
	c.end()
	if len(used) < 5 || len(p.ring.Keys) != 1 {
		t.Errorf("clients have signed with %v, and %v is left", used, p.ring.Keys)
	}
	for _, old := range []Key{supplied, changed} {
		if n.accepts(t, old) {
			t.Errorf("named still accepts %s", old)
		}
	}
	t.Logf("%d updates and as many queries with %d keys", c.rounds.Load(), len(used))
}

// onDisk are the keys that the pod has.
func (n *testNamed) onDisk() ([]Key, error) {
	conf, err := ParseClientConfig(filepath.Join(n.dir, "etc", FileClient), readFile)
	return conf.OrderedKeys(), err
}

// accepts asks as the sidecar does: the control channel and DNS.
func (n *testNamed) accepts(t *testing.T, k Key) bool {
	t.Helper()
	control, err := n.Accepts(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := n.exchange(new(dns.Msg).SetQuestion("good.example.", dns.TypeSOA), k.Name+".", k.Secret)
	return control && err == nil && reply.Rcode == dns.RcodeSuccess
}

// TestRndcItselfTakesOurFiles: people who have a shell in the pod use rndc without arguments.
func TestRndcItselfTakesOurFiles(t *testing.T) {
	n := claimNamed(t)
	if err := n.configured(t, Options{}); err != nil {
		t.Fatal(err)
	}
	two := Ring{Keys: []Key{testKey("bindy-operator"), testKeyOf("2")}, InUse: "a"}
	n.publish(t, ForOperator, two)
	n.start(t)
	out, err := output("rndc", "-c", filepath.Join(n.dir, "etc", FileClient), "status")
	if err != nil || !strings.Contains(out, "server is up and running") {
		t.Errorf("rndc: %v\n%s", err, out)
	}
	if keys, err := n.onDisk(); err != nil || !slices.Equal(keys, []Key{two.Keys[1], two.Keys[0]}) {
		t.Errorf("we read %v, %v", keys, err)
	}
}
