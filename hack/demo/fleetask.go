package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/testcluster"
)

// A wish is what a name has to have.
type wish struct {
	name string
	typ  uint16
	data []string // sorted
}

// everywhere are some of the records of the example, of each way into the zone: named, selected, of two objects, of the
// zone itself.
var everywhere = []wish{
	{"example.com.", dns.TypeNS, []string{"ns1.example.com."}},
	{"www.example.com.", dns.TypeA, []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"}},
	{"www.example.com.", dns.TypeAAAA, []string{"2001:db8::1"}},
	{"example.com.", dns.TypeMX, []string{"10 mail.example.com."}},
	{"example.com.", dns.TypeTXT, []string{`"v=spf1 mx -all"`}},
	{"example.com.", dns.TypeCAA, []string{`0 issue "letsencrypt.org"`}},
	{"shop.example.com.", dns.TypeCNAME, []string{"www.example.com."}},
	{"_xmpp-client._tcp.example.com.", dns.TypeSRV, []string{"5 0 5222 www.example.com."}},
}

// errNoAnswer is that a server says nothing, or that it does not know the zone: whoever asks goes on to the next.
var errNoAnswer = errors.New("there is no answer")

// ask asks a server at host and port once, and says what is wrong with the answer.
func (w wish) ask(ctx context.Context, address string) error {
	client := &dns.Client{Net: "tcp", Timeout: 2 * time.Second}
	answer, _, err := client.ExchangeContext(ctx, new(dns.Msg).SetQuestion(w.name, w.typ), address)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	case answer.Rcode == dns.RcodeRefused || answer.Rcode == dns.RcodeServerFailure:
		return fmt.Errorf("%w but %s", errNoAnswer, dns.RcodeToString[answer.Rcode])
	}
	var got []string
	for _, record := range answer.Answer {
		if record.Header().Rrtype == w.typ {
			got = append(got, strings.TrimPrefix(record.String(), record.Header().String()))
		}
	}
	if slices.Sort(got); !slices.Equal(got, w.data) {
		return fmt.Errorf("the answer to %s %s is %s %q and not %q", w.name, dns.TypeToString[w.typ],
			dns.RcodeToString[answer.Rcode], got, w.data)
	}
	return nil
}

// A tally is what came of asking.
type tally struct {
	what                      string
	questions, answers, wrong int
	last                      error     // what was wrong, or missing
	first                     time.Time // of the right answers
}

func (t *tally) count(err error) {
	t.questions++
	switch {
	case err == nil && t.answers == 0:
		t.first = time.Now()
		fallthrough
	case err == nil:
		t.answers++
		return
	case !errors.Is(err, errNoAnswer):
		t.wrong++
	}
	t.last = err
}

// complaint says what was wrong with the answers of somebody who has to get one to each question.
func (t *tally) complaint() error {
	if t.answers < t.questions || t.questions == 0 {
		return fmt.Errorf("%s: %d of %d questions had the right answer: %w", t.what, t.answers, t.questions, t.last)
	}
	return nil
}

// keepAsking asks over and over, until ctx ends.
func keepAsking(ctx context.Context, what string, once func(ctx context.Context, n int) error) <-chan *tally {
	result := make(chan *tally, 1)
	go func() {
		t := &tally{what: what}
		defer func() { result <- t }()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			err := once(ctx, n)
			if ctx.Err() != nil {
				return
			}
			t.count(err)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return result
}

// asResolversDo asks one of the servers, each question another one first, and goes on to the next where there is no
// answer.
func asResolversDo(servers []server) func(ctx context.Context, n int) error {
	return func(ctx context.Context, n int) (err error) {
		w := everywhere[n%len(everywhere)]
		for i := range servers {
			if err = w.ask(ctx, servers[(n+i)%len(servers)].dns()); !errors.Is(err, errNoAnswer) {
				return err
			}
		}
		return err
	}
}

// A server is an instance and the address of its Service.
type server struct {
	name    string
	address testcluster.ServiceAddress
}

func (s server) dns() string { return s.address.At(53).String() }
