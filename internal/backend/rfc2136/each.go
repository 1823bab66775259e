package rfc2136

import (
	"context"
	"errors"
	"fmt"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// Each gives every record of a zone to take, as the server sends them in a transfer: the SOA first, and those too that
// nobody may write. It holds one message of them at a time. An error says that what was taken is not the whole zone.
func (c *Client) Each(ctx context.Context, zone dnsname.Name, take func(dns.RR) error) error {
	begun := false
	err := c.talk(ctx, reading, func(link *conn) error {
		if begun {
			return unavailable(errors.New("the connection broke in the middle of the transfer"))
		}
		m := new(dns.Msg)
		m.SetAxfr(zone.String())
		t := newTransfer(zone, nil)
		t.each = func(r dns.RR) error {
			begun = true
			return take(r)
		}
		return c.receiveTransfer(link, m, t)
	})
	if err != nil {
		return fmt.Errorf("transferring zone %s from %s: %w", zone, c.server, c.denied(ctx, zone, err))
	}
	return nil
}
