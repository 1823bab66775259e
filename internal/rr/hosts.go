package rr

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// eui is a hardware address of so many octets, as pairs of hexadecimal digits
// with hyphens between (RFC 7043).
type eui int

func (e eui) parse(c *codec, what string) error {
	s, err := c.word(what)
	if err != nil {
		return err
	}
	pairs := strings.Split(s, "-")
	for _, pair := range pairs {
		v, err := strconv.ParseUint(pair, 16, 8)
		if err != nil || len(pair) != 2 || len(pairs) != int(e) {
			return fmt.Errorf(`the %s %s is not %d pairs of hexadecimal digits with "-" between them`, what, shorten(s), int(e))
		}
		c.wire = append(c.wire, byte(v))
	}
	return nil
}

func (e eui) print(c *codec, what string) error {
	b, err := c.take(what, int(e))
	if err != nil {
		return err
	}
	c.space()
	for i, o := range b {
		if i > 0 {
			c.text = append(c.text, '-')
		}
		c.text = append(c.text, "0123456789abcdef"[o>>4], "0123456789abcdef"[o&15])
	}
	return nil
}

// hostIdentity is the beginning of HIP data (RFC 8005 §5): the algorithm, the
// tag in hexadecimal and the key in base64, one word each, both lengths first.
type hostIdentity struct{}

func (hostIdentity) parse(c *codec, _ string) error {
	algorithm, err := c.number("algorithm", 8)
	if err != nil {
		return err
	}
	tag, err := c.word("host identity tag")
	if err != nil {
		return err
	}
	key, err := c.word("public key")
	if err != nil {
		return err
	}
	c.wire = append(c.wire, 0, byte(algorithm), 0, 0)
	if c.wire, err = hexRest.decode(c.wire, "host identity tag", tag); err != nil {
		return err
	}
	tagged := len(c.wire)
	if c.wire, err = base64Rest.decode(c.wire, "public key", key); err != nil {
		return err
	}
	size := len(c.wire) - tagged
	if tagged-4 > 255 || size > maxData {
		return fmt.Errorf("the host identity tag or public key is too long")
	}
	c.wire[0], c.wire[2], c.wire[3] = byte(tagged-4), byte(size>>8), byte(size)
	return nil
}

func (hostIdentity) print(c *codec, what string) error {
	head, err := c.take(what, 4)
	if err != nil {
		return err
	}
	tag, err := c.take("host identity tag", int(head[0]))
	if err != nil {
		return err
	}
	key, err := c.take("public key", int(head[2])<<8|int(head[3]))
	if err != nil {
		return err
	}
	if len(tag) == 0 || len(key) == 0 {
		return fmt.Errorf("the host identity tag or public key is empty")
	}
	c.putNumber(uint64(head[1]))
	c.space()
	c.text = append(hexRest.encode(c.text, tag), ' ')
	c.text = base64Rest.encode(c.text, key)
	return nil
}

// domains is names to the end, or none.
type domains struct{}

func (domains) parse(c *codec, what string) error {
	for c.more() {
		if err := (domain{}).parse(c, what); err != nil {
			return err
		}
	}
	return nil
}

func (domains) print(c *codec, what string) error {
	for len(c.wire) > 0 {
		if err := (domain{}).print(c, what); err != nil {
			return err
		}
	}
	return nil
}

// gateway is what follows the precedence of IPSECKEY data (RFC 4025 §2): the
// gateway's type, the algorithm and the gateway, in the form of its type.
type gateway struct{}

// form returns the kind of a gateway of this type; nil for none.
func (gateway) form(kind uint64) (kind, error) {
	switch kind {
	case 0:
		return nil, nil
	case 1:
		return ipv4, nil
	case 2:
		return ipv6, nil
	case 3:
		return domain{}, nil
	}
	return nil, fmt.Errorf("the gateway type %d is not one of 0 (none), 1 (IPv4), 2 (IPv6), 3 (a name)", kind)
}

func (g gateway) parse(c *codec, what string) error {
	t, err := c.number("gateway type", 8)
	if err != nil {
		return err
	}
	form, err := g.form(t)
	if err != nil {
		return err
	}
	c.wire = append(c.wire, byte(t))
	if err := u8.parse(c, "algorithm"); err != nil {
		return err
	}
	if form != nil {
		return form.parse(c, what)
	}
	s, err := c.word(what)
	if err == nil && s != "." {
		err = fmt.Errorf(`the %s %s is present although the gateway type says that there is none: write "."`, what, shorten(s))
	}
	return err
}

func (g gateway) print(c *codec, what string) error {
	head, err := c.take(what, 2)
	if err != nil {
		return err
	}
	form, err := g.form(uint64(head[0]))
	if err != nil {
		return err
	}
	c.putNumber(uint64(head[0]))
	c.putNumber(uint64(head[1]))
	if form != nil {
		return form.print(c, what)
	}
	c.put(".")
	return nil
}

// gatewayKey is the key of IPSECKEY data: missing exactly if algorithm 0 says
// that there is none.
type gatewayKey struct{}

func (gatewayKey) parse(c *codec, what string) error {
	if !c.more() && c.wire[2] == 0 {
		return nil
	}
	return base64Rest.parse(c, what)
}

func (gatewayKey) print(c *codec, what string) error {
	if len(c.wire) == 0 && c.data[2] == 0 {
		return nil
	}
	return base64Rest.print(c, what)
}

// prefixes is address prefixes to the end (RFC 3123): [!]family:address/length.
type prefixes struct{}

func (p prefixes) parse(c *codec, what string) error {
	for c.more() {
		s, err := c.word(what)
		if err != nil {
			return err
		}
		if err := p.one(c, s); err != nil {
			return fmt.Errorf("the %s %s %w", what, shorten(s), err)
		}
	}
	return nil
}

// one reads one prefix.
func (prefixes) one(c *codec, s string) error {
	rest, negated := strings.CutPrefix(s, "!")
	family, rest, _ := strings.Cut(rest, ":")
	want := map[string]address{"1": ipv4, "2": ipv6}[family]
	if want == 0 {
		return fmt.Errorf(`is not an address prefix: write 1:192.0.2.0/24 or 2:2001:db8::/32, with "!" before it to exclude`)
	}
	p, err := netip.ParsePrefix(rest)
	if err != nil || p.Addr().BitLen() != 8*int(want) {
		return fmt.Errorf("does not have an %s prefix after its family", want)
	}
	if p != p.Masked() {
		return fmt.Errorf("has bits set beyond its length: write %s:%s", family, p.Masked())
	}
	b := p.Addr().AsSlice()
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	count := byte(len(b))
	if negated {
		count |= 0x80
	}
	c.wire = append(c.wire, 0, family[0]-'0', byte(p.Bits()), count)
	c.wire = append(c.wire, b...)
	return nil
}

func (p prefixes) print(c *codec, what string) error {
	for len(c.wire) > 0 {
		head, err := c.take(what, 4)
		if err != nil {
			return err
		}
		b, err := c.take(what, int(head[3]&0x7f))
		if err != nil {
			return err
		}
		ip, ok := p.address(head, b)
		if !ok {
			return fmt.Errorf("the %s is of an unknown family or too long", what)
		}
		prefix := netip.PrefixFrom(ip, int(head[2]))
		if !prefix.IsValid() || prefix != prefix.Masked() || len(b) > 0 && b[len(b)-1] == 0 {
			return fmt.Errorf("the %s has bits set beyond its length, or zeros at its end", what)
		}
		c.space()
		if head[3]&0x80 != 0 {
			c.text = append(c.text, '!')
		}
		c.text = append(c.text, '0'+head[1], ':')
		c.text = prefix.AppendTo(c.text)
	}
	return nil
}

// address returns the address whose octets up to the last that is not zero are
// b, of the family at the start of head.
func (prefixes) address(head, b []byte) (netip.Addr, bool) {
	var octets [16]byte
	copy(octets[:], b)
	switch {
	case head[0] == 0 && head[1] == 1 && len(b) <= 4:
		return netip.AddrFrom4([4]byte(octets[:4])), true
	case head[0] == 0 && head[1] == 2 && len(b) <= 16:
		return netip.AddrFrom16(octets), true
	}
	return netip.Addr{}, false
}
