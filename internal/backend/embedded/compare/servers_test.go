// Package compare has the proof of what embedded answers: other servers, asked the same, say the same.
package compare_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
)

// comparedSeed repeats a run of TestAnswersAreThoseOfOtherServers.
var comparedSeed = flag.Uint64("compare.seed", 0, "seed of the random zones and questions; 0: another in every run")

// comparedQuestions is how many questions every server is asked.
const comparedQuestions = 10_000

// peers are the servers that embedded is compared with. They are told not to add what has not been asked for: the
// zone's name servers beside data.
var peers = []struct {
	name, extra string
	start       func(context.Context, nameserver.Options) (*nameserver.Server, error)
}{
	{"BIND", "minimal-responses yes; zero-no-soa-ttl no; check-integrity no; check-names primary ignore; check-wildcard " +
		"no; check-mx-cname ignore; check-srv-cname ignore; check-sibling no;", nameserver.StartBIND},
	{"Knot", "", nameserver.StartKnot},
	{"NSD", "    minimal-responses: yes\n", nameserver.StartNSD},
}

// A reply is what the comparison looks at, each record in one canonical line. It leaves the additional section out:
// what belongs there is left to the server (RFC 1034 §4.3.2 step 6).
type reply struct {
	rcode             string
	aa                bool
	answer, authority []string
}

func (r reply) String() string {
	return fmt.Sprintf("%s aa=%t\n  answer\n    %s\n  authority\n    %s", r.rcode, r.aa, strings.Join(r.answer, "\n    "),
		strings.Join(r.authority, "\n    "))
}

func (r reply) equal(o reply) bool {
	return r.rcode == o.rcode && r.aa == o.aa && slices.Equal(r.answer, o.answer) && slices.Equal(r.authority, o.authority)
}

// TestAnswersAreThoseOfOtherServers is the proof of what embedded answers: whatever it is asked, it agrees with BIND,
// Knot and NSD that have the same zones, except for what deviations lists.
func TestAnswersAreThoseOfOtherServers(t *testing.T) {
	seed := *comparedSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat this run: go test -run %s -compare.seed %d", t.Name(), seed)
	random := rand.New(rand.NewPCG(seed, 0))
	zones := fixedZones(t)
	for i := range 4 {
		zones = append(zones, randomZones(t, random, fmt.Sprintf("r%d.example.", i))...)
	}
	addrs := startCompared(t, zones)
	asked := questions(random, zones, comparedQuestions)
	replies := make([][]reply, len(addrs))
	var asking sync.WaitGroup
	for i, addr := range addrs {
		asking.Go(func() { replies[i] = askAll(t, addr, asked) })
	}
	asking.Wait()
	if t.Failed() {
		return
	}
	judge(t, zones, asked, replies)
}

// startCompared returns the address of embedded and those of peers.
func startCompared(t *testing.T, zones []comparedZone) []string {
	t.Helper()
	var load []nameserver.Zone
	c := embedded.NewCatalogue()
	for _, z := range zones {
		load = append(load, nameserver.Zone{Name: z.name, Text: z.text()})
		c = c.With(z.read(t))
	}
	addrs := []string{serve(t, c)}
	for _, p := range peers {
		s, err := p.start(t.Context(), nameserver.Options{Dir: t.TempDir(), Zones: load, Extra: p.extra})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		addrs = append(addrs, s.Addr())
	}
	return addrs
}

// serve returns the address of embedded.
func serve(t *testing.T, c *embedded.Catalogue) string {
	t.Helper()
	s, err := embedded.Serve(t.Context(), embedded.Options{
		Listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	s.Publish(c)
	return s.Addrs()[0].String()
}

// askAll asks one server everything over one connection.
func askAll(t *testing.T, addr string, asked []question) []reply {
	c, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer c.Close()
	replies := make([]reply, len(asked))
	for i, q := range asked {
		if replies[i], err = askOne(&dns.Conn{Conn: c}, q); err != nil {
			t.Errorf("asking %s for %s: %v", addr, q, err)
			return nil
		}
	}
	return replies
}

// headerSize is that of a message.
const headerSize = 12

func askOne(c *dns.Conn, q question) (reply, error) {
	m := new(dns.Msg).SetQuestion(q.name, q.typ)
	m.RecursionDesired = false
	wire, err := m.Pack()
	if err != nil {
		return reply{}, err
	}
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return reply{}, err
	}
	if _, err := c.Write(wire); err != nil {
		return reply{}, err
	}
	answer, err := c.ReadMsgHeader(nil)
	if err != nil {
		return reply{}, err
	}
	if len(answer) < len(wire) || !bytes.Equal(answer[:2], wire[:2]) ||
		!bytes.Equal(answer[headerSize:len(wire)], wire[headerSize:]) {
		return reply{}, fmt.Errorf("the answer does not repeat the question: %x", answer)
	}
	var got dns.Msg
	if err := got.Unpack(answer); err != nil {
		return reply{}, fmt.Errorf("the answer cannot be read: %w: %x", err, answer)
	}
	return reply{dns.RcodeToString[got.Rcode], got.Authoritative, canonical(got.Answer), canonical(got.Ns)}, nil
}

// canonical prints each record in a line, in lower case where case has no meaning, and sorts them.
func canonical(records []dns.RR) []string {
	var lines []string
	for _, record := range records {
		sets, err := rr.FromRRs([]dns.RR{record})
		if err != nil {
			lines = append(lines, err.Error())
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %d %s %s", sets[0].Name, sets[0].TTL, sets[0].Type, sets[0].Data[0]))
	}
	slices.Sort(lines)
	return lines
}
