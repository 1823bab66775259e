package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
)

// A change is one update of one name.
type change struct {
	add bool // the name is new; otherwise it gets another address
	i   int
	to  string
}

// A sender is a client of updates with a connection of its own.
type sender struct {
	conn net.Conn
	udp  *dns.Conn // to ask
}

func (b *bench) client() (*sender, error) {
	conn, err := net.DialTimeout("tcp", b.address, time.Second)
	if err != nil {
		return nil, err
	}
	udp, err := dns.DialTimeout("udp", b.address, time.Second)
	return &sender{conn, udp}, err
}

func (s *sender) close() {
	_ = s.conn.Close()
	_ = s.udp.Close()
}

// send sends one update and returns when it is answered. The server answers it from then on, or send fails.
func (s *sender) send(c change) (time.Duration, error) {
	m := new(dns.Msg).SetUpdate(zoneName)
	a := []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: fqdn(c.i), Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 300},
		A: net.ParseIP(c.to)}}
	if c.add {
		m.NameNotUsed(a)
	} else {
		m.RemoveRRset(a)
	}
	m.Insert(a)
	m.SetTsig(keyName, dns.HmacSHA256, 300, time.Now().Unix())
	began := time.Now()
	_ = s.conn.SetDeadline(began.Add(15 * time.Second))
	// A dns.Conn signs its second message as the continuation of its first.
	link := &dns.Conn{Conn: s.conn, TsigSecret: map[string]string{keyName: keySecret}}
	if err := link.WriteMsg(m); err != nil {
		return 0, err
	}
	answer, err := link.ReadMsg()
	took := time.Since(began)
	if err != nil {
		return took, fmt.Errorf("the update of %s is answered with %v: %w", fqdn(c.i), answer, err)
	}
	if answer.Rcode != dns.RcodeSuccess {
		return took, fmt.Errorf("the update of %s is answered with %s", fqdn(c.i), dns.RcodeToString[answer.Rcode])
	}
	return took, s.look(c)
}

// look fails unless the server answers a change.
func (s *sender) look(c change) error {
	asker := dns.Client{Timeout: 2 * time.Second}
	answer, _, err := asker.ExchangeWithConn(new(dns.Msg).SetQuestion(fqdn(c.i), dns.TypeA), s.udp)
	if err != nil {
		return err
	}
	if len(answer.Answer) == 1 && strings.HasSuffix(answer.Answer[0].String(), "\t"+c.to) {
		return nil
	}
	return fmt.Errorf("the update of %s to %s was carried out, and the answer is %v", fqdn(c.i), c.to, answer.Answer)
}

// A burst is what came of many updates by all clients, each of which sends its next one when its last is answered.
type burst struct {
	took  time.Duration
	all   time.Duration // until the operator has nothing to write any more
	times figures.Times
	cpu   map[string]time.Duration // of all programs until took
	calls map[string]float64       // of the API server until all
}

// burst sends an update for every name.
func (b *bench) burst(ctx context.Context, of func(int) change) (out burst, err error) {
	free := make(chan *sender, b.o.Workers)
	for range b.o.Workers {
		s, err := b.client()
		if err != nil {
			return out, err
		}
		defer s.close()
		free <- s
	}
	calls, err := b.calls(ctx)
	if err != nil {
		return out, err
	}
	cpu, err := figures.CPUTimes()
	if err != nil {
		return out, err
	}
	began := time.Now()
	var mu sync.Mutex
	out.took, err = b.Each(ctx, b.o.n, func(_ context.Context, i int) error {
		s := <-free
		defer func() { free <- s }()
		took, err := s.send(of(i))
		mu.Lock()
		defer mu.Unlock()
		out.times = append(out.times, took)
		return err
	})
	if err != nil {
		return out, err
	}
	after, err := figures.CPUTimes()
	if err != nil {
		return out, err
	}
	out.cpu = figures.Less(after, cpu)
	if err := b.quiet(ctx); err != nil {
		return out, err
	}
	out.all = time.Since(began)
	since, err := b.calls(ctx)
	out.calls = figures.Less(since, calls)
	if err != nil {
		return out, err
	}
	return out, b.compare(ctx, of)
}

// calls counts the requests of the API server that change Records, Zones and their slices, or read one.
func (b *bench) calls(ctx context.Context) (map[string]float64, error) {
	text, err := b.Cluster.RunKubectl(ctx, "get", "--raw", "/metrics")
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for sample, n := range figures.Samples(text) {
		labels := figures.Labels(sample)
		what := labels["verb"] + " " + labels["resource"]
		switch {
		case !strings.HasPrefix(sample, "apiserver_request_total{"), labels["verb"] == "LIST", labels["verb"] == "WATCH":
			continue
		case labels["resource"] != "records" && labels["resource"] != "zones" && labels["resource"] != "zoneslices":
			continue
		case labels["subresource"] != "":
			what += "/" + labels["subresource"]
		}
		out[what] += n
	}
	return out, nil
}

// compare finds what was lost or is wrong: every update is a Record.
func (b *bench) compare(ctx context.Context, of func(int) change) error {
	var list kubizone.RecordList
	if err := b.Kube.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return err
	}
	data := map[string]string{}
	for _, r := range list.Items {
		data[r.Spec.DomainName] += r.Spec.RData
	}
	for i := range b.o.n {
		if got := data[fqdn(i)]; got != of(i).to {
			return fmt.Errorf("the Records of %s say %q, want %q", fqdn(i), got, of(i).to)
		}
	}
	return nil
}
