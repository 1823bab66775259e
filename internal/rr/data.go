package rr

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// maxData bounds rdata in wire format, in octets (RFC 1035 §3.2.1).
const maxData = 65535

// ParseData reads rdata of type t in presentation form, in one line, or in the
// form of RFC 3597 §5 ("\# length hex"), and returns its canonical form: equal
// data give equal text, and canonical text is returned as it is.
//
// It is stricter than master files are: names are absolute, nothing may be left
// over, and nothing of the syntax for several lines or records may occur. Names
// may have U-labels. It does not ask whether t may be written; see Refused. The
// error is a sentence about s.
func ParseData(t Type, s string) (string, error) {
	switch t {
	case TypeA:
		if ip, err := netip.ParseAddr(s); err == nil && ip.Is4() {
			return s, nil
		}
	case TypeAAAA:
		if ip, err := netip.ParseAddr(s); err == nil && ip.Is6() && ip.Zone() == "" {
			return sameOr(s, ip.AppendTo(make([]byte, 0, 46))), nil
		}
	}
	c := newCodec(t)
	err := c.parse(s)
	if err == nil {
		err = c.print()
	}
	if err == nil && c.row.fields == nil {
		err = checkForeign(c)
	}
	if err != nil {
		return "", c.explain(s, err)
	}
	return sameOr(s, c.text), nil
}

// sameOr returns s if text is the same, to keep one string of the two.
func sameOr(s string, text []byte) string {
	if string(text) == s {
		return s
	}
	return string(text)
}

// explain makes a sentence of what is wrong with rdata s.
func (c *codec) explain(s string, err error) error {
	if len(c.row.fields) == 1 {
		if a, ok := c.row.fields[0].kind.(address); ok && s != "" && !strings.ContainsAny(s, " \t\n\r\\\"();$") {
			return fmt.Errorf("%s data %s is not an %s address", c.row.typ, shorten(s), a)
		}
	}
	return fmt.Errorf("%s data %s is not valid: %w", c.row.typ, shorten(s), err)
}

// Names returns the names in canonical rdata, in their order.
func Names(t Type, data string) []dnsname.Name {
	c := newCodec(t)
	c.collect = true
	if c.parse(data) != nil || c.print() != nil {
		return nil
	}
	return c.names
}

// Targets returns the names in canonical rdata that want addresses: those of
// NS, MX and SRV, and of no other type. The root stands for no host there
// (RFC 2782, RFC 7505).
func Targets(t Type, data string) []dnsname.Name {
	if !t.has(target) {
		return nil
	}
	n, err := dnsname.Parse(data[strings.LastIndexByte(data, ' ')+1:])
	if err != nil || n.IsRoot() {
		return nil
	}
	return []dnsname.Name{n}
}

// Text returns the canonical data of a TXT record for one value of any length:
// as many strings of 255 octets as it takes, which readers join.
func Text(value string) string {
	text := make([]byte, 0, len(value)+2)
	for rest := value; ; text = append(text, ' ') {
		n := min(len(rest), 255)
		text = appendQuoted(text, []byte(rest[:n]))
		if rest = rest[n:]; rest == "" {
			return string(text)
		}
	}
}
