package rig

import (
	"context"
	"fmt"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// An Asker asks a name server for addresses over one UDP socket.
type Asker struct {
	server string // for people
	conn   *dns.Conn
	client dns.Client
}

// NewAsker connects to a server, which has a name for people.
func NewAsker(server, address string) (*Asker, error) {
	conn, err := dns.DialTimeout("udp", address, time.Second)
	return &Asker{server, conn, dns.Client{Timeout: 2 * time.Second}}, err
}

// Close ends the socket.
func (a *Asker) Close() { _ = a.conn.Close() }

// ask is the only address of a name, or what was answered instead.
func (a *Asker) ask(name string) string {
	answer, _, err := a.client.ExchangeWithConn(new(dns.Msg).SetQuestion(name, dns.TypeA), a.conn)
	switch {
	case err != nil:
		return err.Error()
	case len(answer.Answer) == 1:
		if found, ok := answer.Answer[0].(*dns.A); ok {
			return found.A.String()
		}
	}
	return dns.RcodeToString[answer.Rcode]
}

// Await asks until a name has one address, the wanted one. After each answer it pauses for a millisecond, and after a
// while for a hundredth of the time that it has waited, so that asking does not take the time of those that work.
func (a *Asker) Await(ctx context.Context, name, want string) error {
	const patience = 15 * time.Minute
	for began := time.Now(); ; {
		got, waited := a.ask(name), time.Since(began)
		if got == want {
			return nil
		}
		if waited > patience {
			return fmt.Errorf("%s still answers %s for %s and not %s", a.server, got, name, want)
		}
		if err := figures.Pause(ctx, max(time.Millisecond, waited/100)); err != nil {
			return err
		}
	}
}

// A Change is a write to the API server, and the address that a name has by it.
type Change struct {
	Name, To string
	Write    func(context.Context) error
}

// Time measures n changes, with a pause before each: from the beginning of a write until the server answers with what
// was written.
func (a *Asker) Time(ctx context.Context, n int, pause time.Duration,
	change func(int) Change) (out figures.Times, err error) {
	for i := range n {
		if err := figures.Pause(ctx, pause); err != nil {
			return nil, err
		}
		c, began := change(i), time.Now()
		if err := c.Write(ctx); err != nil {
			return nil, err
		}
		if err := a.Await(ctx, c.Name, c.To); err != nil {
			return nil, err
		}
		out = append(out, time.Since(began))
	}
	return out, nil
}
