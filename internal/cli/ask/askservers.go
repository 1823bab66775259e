package ask

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/dialguard"
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/rr"
)

// askingTakes is how long a server has for an answer, and maxAsked how many are asked.
const (
	askingTakes = 3 * time.Second
	maxAsked    = 64
)

// rowOf returns what a table says of a server.
func rowOf(s *explained.Server) []string {
	dash := func(text string, known bool) string {
		if !known {
			return "?"
		}
		if text == "" {
			return "-"
		}
		return plain.Line(text)
	}
	serial := "?"
	if s.Serial != nil {
		serial = strconv.FormatUint(uint64(*s.Serial), 10)
	}
	answers := dash(strings.Join(s.Answers, ", "), s.Answers != nil)
	if s.Error != "" {
		answers += " (" + plain.Line(s.Error) + ")"
	}
	return []string{dash(s.Backend, true), dash(s.Server, s.Server != ""), serial,
		dash(strings.Join(s.Has, ", "), s.Has != nil), answers}
}

// serverAddresses reads the values of --server.
func serverAddresses(flags []string) ([]string, error) {
	var out []string
	for _, flag := range flags {
		address, err := WithPort(flag)
		if err != nil {
			return nil, fmt.Errorf("--server: %w", err)
		}
		out = append(out, address)
	}
	return out, nil
}

// WithPort returns an address with its port, which is 53 where none is said.
func WithPort(address string) (string, error) {
	if at, err := netip.ParseAddrPort(address); err == nil {
		return at.String(), nil
	}
	at, err := netip.ParseAddr(strings.Trim(address, "[]"))
	if err != nil {
		return "", fmt.Errorf("%q is not an address of a server, such as 192.0.2.53 or 192.0.2.53:5353", address)
	}
	return net.JoinHostPort(at.String(), "53"), nil
}

// Ask asks the servers of a zone for a set, those of its Backends and others.
func (x *Explainer) Ask(ctx context.Context, e *explanation, others []string) []explained.Server {
	out := x.inspected(ctx, e, x.servers(e))
	for _, address := range others {
		out = append(out, explained.Server{Server: address})
	}
	out = out[:min(len(out), maxAsked)]
	var asking sync.WaitGroup
	for i := range out {
		if hasAddress(&out[i]) && e.apex() != "" {
			guard := x.Guard
			if slices.Contains(x.AddressesOf(out[i].Backend), out[i].Server) {
				guard = nil // who writes Backends may have everything asked
			}
			asking.Go(func() { askServer(ctx, guard, &out[i], e) })
		}
	}
	asking.Wait()
	return out
}

// apex is the name of the zone whose servers are asked, "" if it is not known.
func (e *explanation) apex() string {
	if e.serving != nil {
		return e.serving.Verdict.Name.String()
	}
	return e.FQDN
}

// servers returns the servers of a Zone as far as its status and its Backends tell.
func (x *Explainer) servers(e *explanation) []explained.Server {
	out := []explained.Server{}
	if e.serving == nil || e.serving.Object.Zone == nil {
		return out
	}
	status := &e.serving.Object.Zone.Status
	for _, b := range status.Backends {
		known := explained.Server{Backend: b.Name, Error: b.Message}
		if b.Serial != nil {
			serial := uint32(*b.Serial)
			known.Serial = &serial
			if status.Serial != nil && *status.Serial == *b.Serial && status.Slices == 0 {
				known.Has = publishedOf(status, e.key)
			}
		}
		addresses := x.AddressesOf(b.Name)
		if len(addresses) == 0 {
			out = append(out, known)
		}
		for _, address := range addresses {
			known.Server = address
			out = append(out, known)
		}
	}
	return out
}

// AddressesOf returns the addresses of a Backend's servers where its spec has them.
func (x *Explainer) AddressesOf(backend string) []string {
	i := slices.IndexFunc(x.Composition.Backends, func(o *manifest.Object) bool { return o.Name == backend })
	if i < 0 || x.Composition.Backends[i].Backend == nil || x.Composition.Backends[i].Backend.Spec.RFC2136 == nil {
		return nil
	}
	return x.Composition.Backends[i].Backend.Spec.RFC2136.Servers
}

// publishedOf returns the data that the status of a Zone has for a set.
func publishedOf(status *kubizone.ZoneStatus, key rr.Key) []string {
	out := []string{}
	for _, entry := range status.Entries {
		if entry.FQDN == key.Name.String() && entry.Type == key.Type.String() {
			out = append(out, entry.RData)
		}
	}
	return out
}

// askServer asks a server for the set and the serial.
func askServer(ctx context.Context, guard *dialguard.Guard, s *explained.Server, e *explanation) {
	ctx, cancel := context.WithTimeout(ctx, askingTakes)
	defer cancel()
	soa, err := exchange(ctx, guard, s.Server, e.apex(), dns.TypeSOA)
	if err != nil {
		s.Error = err.Error()
		return
	}
	for _, record := range soa.Answer {
		if record, ok := record.(*dns.SOA); ok {
			s.Serial = &record.Serial
		}
	}
	kind := uint16(e.key.Type)
	if kind == 0 {
		kind = dns.TypeSOA
	}
	answer, err := exchange(ctx, guard, s.Server, e.Name, kind)
	if err != nil {
		s.Error = err.Error()
		return
	}
	s.Answers = []string{}
	for _, record := range answer.Answer {
		s.Answers = append(s.Answers, dataOf(record, rr.Type(kind)))
	}
	slices.Sort(s.Answers)
	if answer.Rcode != dns.RcodeSuccess {
		s.Error = dns.RcodeToString[answer.Rcode]
	}
}

// dataOf returns the data of a record in the form that objects' data has, after its type if that is not the one asked
// for.
func dataOf(record dns.RR, asked rr.Type) string {
	header := record.Header()
	text := strings.TrimPrefix(record.String(), header.String())
	if key, data, err := new(rr.Decoder).Decode(record); err == nil {
		if canonical, err := rr.ParseData(key.Type, data); err == nil {
			text = canonical
		}
	}
	if t := rr.Type(header.Rrtype); t != asked {
		text = t.String() + " " + text
	}
	return text
}

// exchange asks a server.
func exchange(ctx context.Context, guard *dialguard.Guard, server, name string, kind uint16) (*dns.Msg, error) {
	q := new(dns.Msg)
	q.SetQuestion(name, kind)
	q.RecursionDesired = false
	q.SetEdns0(1232, false)
	return ExchangeMessage(ctx, guard, server, q)
}

// ExchangeMessage sends a question, again over TCP if the answer is too long for UDP.
func ExchangeMessage(ctx context.Context, guard *dialguard.Guard, server string, q *dns.Msg) (*dns.Msg, error) {
	answer, err := exchangeOver(ctx, guard, "udp", server, q)
	if err == nil && answer.Truncated {
		answer, err = exchangeOver(ctx, guard, "tcp", server, q)
	}
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", server, err)
	}
	return answer, nil
}

func exchangeOver(
	ctx context.Context, guard *dialguard.Guard, network, server string, q *dns.Msg,
) (*dns.Msg, error) {
	conn, err := guard.DialContext(ctx, network, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	answer, _, err := (&dns.Client{Net: network}).ExchangeWithConnContext(ctx, q, &dns.Conn{Conn: conn})
	return answer, err
}
