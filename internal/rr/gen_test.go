package rr

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// A spelling draws two texts that mean the same data.
type spelling struct {
	*rapid.T
	a, b []string
	last uint64 // the number drawn last, which may say what follows
}

func (s *spelling) add(a, b string) { s.a, s.b = append(s.a, a), append(s.b, b) }

func (s *spelling) bool() bool { return rapid.Bool().Draw(s.T, "bool") }

func (s *spelling) upTo(n uint64) uint64 { return rapid.Uint64Range(0, n).Draw(s.T, "number") }

func (s *spelling) bytes(least, most int) []byte {
	return rapid.SliceOfN(rapid.Byte(), least, most).Draw(s.T, "octets")
}

// drawData returns two spellings of the same random rdata of a type.
func drawData(t *rapid.T, typ Type) (a, b string) {
	s := &spelling{T: t}
	r := byType[typ]
	if r == nil || r.fields == nil {
		x := hex.EncodeToString(s.bytes(0, 40))
		return fmt.Sprintf(`\# %d %s`, len(x)/2, x), fmt.Sprintf(" \\# 0%d\t%s ", len(x)/2, strings.ToUpper(x))
	}
	for _, f := range r.fields {
		s.draw(f.kind)
	}
	if len(s.a) == 0 {
		return `\# 0`, `\# 00`
	}
	space := rapid.SampledFrom([]string{" ", "  ", "\t"}).Draw(t, "space")
	return strings.Join(s.a, " "), space + strings.Join(s.b, space) + space
}

func (s *spelling) draw(k kind) {
	switch k := k.(type) {
	case number:
		s.number(int(k))
	case period:
		v := s.upTo(1<<32 - 1)
		s.add(strconv.FormatUint(v, 10), fmt.Sprintf("%dH%dm%ds", v/3600, v/60%60, v%60))
	case algorithm:
		s.number(8)
		if name := dns.AlgorithmToString[uint8(s.last)]; name != "" {
			s.b[len(s.b)-1] = strings.ToLower(name)
		}
	case certType:
		s.number(16)
	case domain:
		s.domain()
	case domains:
		for range s.upTo(3) {
			s.domain()
		}
	case charString:
		s.text(255)
		for bool(k) && s.bool() {
			s.text(255)
		}
	case octets:
		s.text(1500)
	case caaTag:
		tag := rapid.StringMatching(`[a-z0-9]{1,20}`).Draw(s.T, "tag")
		s.add(tag, strings.ToUpper(tag))
	case substitution:
		re := rapid.SampledFrom([]string{``, `"!^.*$!sip:info@example.org!"`, `"/(a)(b)/\\2\\1/i"`}).Draw(s.T, "substitution")
		s.add(cmpOr(re, `""`), cmpOr(re, `""`))
	case encoded:
		s.binary(k, s.bytes(1, 60))
	case digest:
		n, ok := k.lengths[byte(s.last)]
		if !ok {
			n = k.least + int(s.upTo(20))
		}
		s.binary(hexRest, s.bytes(n, n))
	case keyData:
		if flags, _ := strconv.Atoi(s.a[0]); flags&0xc000 != 0xc000 {
			s.binary(base64Rest, s.bytes(1, 60))
		}
	case gatewayKey:
		s.binary(base64Rest, s.bytes(1, 60))
	default:
		s.drawRare(k)
	}
}

func (s *spelling) drawRare(k kind) {
	switch k := k.(type) {
	case address:
		ip := s.address(k)
		s.add(ip.String(), ip.StringExpanded())
	case eui:
		x := s.bytes(int(k), int(k))
		text := strings.ReplaceAll(fmt.Sprintf("% x", x), " ", "-")
		s.add(text, strings.ToUpper(text))
	case bitmap:
		types := rapid.SliceOfN(rapid.Uint16Range(1, 65534), 1, 8).Draw(s.T, "types")
		for _, v := range types {
			s.a = append(s.a, Type(v).String())
		}
		for _, v := range slices.Backward(types) {
			s.b = append(s.b, "TYPE"+strconv.Itoa(int(v)))
		}
	case covered:
		s.number(16)
		s.b[len(s.b)-1] = "type" + s.b[len(s.b)-1]
		s.a[len(s.a)-1] = Type(s.last).String()
	case moment:
		s.number(32)
	case salt:
		x := hex.EncodeToString(s.bytes(0, 20))
		s.add(cmpOr(x, "-"), cmpOr(strings.ToUpper(x), "-"))
	case nextHash:
		x := base32hex.EncodeToString(s.bytes(1, 40))
		s.add(x, strings.ToLower(x))
	case hostIdentity:
		s.number(8)
		tag, key := hex.EncodeToString(s.bytes(1, 20)), base64.StdEncoding.EncodeToString(s.bytes(1, 60))
		s.add(tag, strings.ToUpper(tag))
		s.add(key, key)
	case gateway:
		form := s.upTo(3)
		s.add(strconv.FormatUint(form, 10), strconv.FormatUint(form, 10))
		s.number(8)
		s.draw([]kind{octetsOf("."), ipv4, ipv6, domain{}}[form])
	case octetsOf:
		s.add(string(k), string(k))
	case prefixes:
		for range s.upTo(3) {
			s.prefix()
		}
	case location:
		s.location()
	case svcParams:
		s.params()
	default:
		s.Fatalf("no generator for %T", k)
	}
}

// octetsOf is a word that is always the same.
type octetsOf string

func (octetsOf) parse(*codec, string) error { return nil }
func (octetsOf) print(*codec, string) error { return nil }

func cmpOr(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (s *spelling) number(bits int) {
	s.last = s.upTo(1<<bits - 1)
	if s.bool() {
		s.last %= 4
	}
	s.add(strconv.FormatUint(s.last, 10), fmt.Sprintf("0%d", s.last))
}

func (s *spelling) domain() {
	n := drawName(s.T, 4)
	var b strings.Builder
	for wire := n.AppendWire(nil); wire[0] > 0; wire = wire[1+wire[0]:] {
		for _, c := range wire[1 : 1+wire[0]] {
			if c >= 'a' && c <= 'z' && s.bool() {
				b.WriteByte(c - 'a' + 'A')
			} else {
				fmt.Fprintf(&b, `\%03d`, c)
			}
		}
		b.WriteByte('.')
	}
	s.add(n.String(), cmpOr(b.String(), "."))
}

// drawName returns a name of up to so many labels, mostly of common characters.
func drawName(t *rapid.T, most int) dnsname.Name {
	label := rapid.OneOf(
		rapid.StringMatching(`[a-z0-9_]([a-z0-9-]{0,10}[a-z0-9])?`),
		rapid.Just("*"),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 12), func(b []byte) string { return string(b) }),
	)
	n, err := dnsname.FromLabels(rapid.SliceOfN(label, 0, most).Draw(t, "labels"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *spelling) text(most int) {
	x := s.bytes(1, 30)
	if s.bool() {
		x = []byte(rapid.StringMatching(`[ -~]{1,40}`).Draw(s.T, "text"))
	}
	if s.upTo(20) == 0 {
		x = []byte(strings.Repeat(string(x), most))[:most]
	}
	var b strings.Builder
	for _, c := range x {
		if c >= '0' && c <= 'z' && c != '\\' && c != ';' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\%03d`, c)
		}
	}
	s.add(string(appendQuoted(nil, x)), b.String())
}

func (s *spelling) binary(e encoded, x []byte) {
	text := string(e.encode(nil, x))
	other := text
	if e == 'x' {
		other = strings.ToLower(other)
	}
	at := int(s.upTo(uint64(len(text))))
	s.add(text, strings.TrimSpace(other[:at]+" "+other[at:]))
}

func (s *spelling) address(a address) netip.Addr {
	ip, _ := netip.AddrFromSlice(s.bytes(int(a), int(a)))
	return ip
}

func (s *spelling) prefix() {
	a := ipv4
	family, not := "1:", ""
	if s.bool() {
		a, family = ipv6, "2:"
	}
	if s.bool() {
		not = "!"
	}
	p := netip.PrefixFrom(s.address(a), int(s.upTo(uint64(8*a)))).Masked()
	s.add(not+family+p.String(), not+family+p.Addr().StringExpanded()+"/"+strconv.Itoa(p.Bits()))
}

func (s *spelling) location() {
	for _, axis := range []struct {
		most       uint64
		directions string
	}{{90, "NS"}, {180, "EW"}} {
		deg, minute, sec, dir := s.upTo(axis.most-1), s.upTo(59), s.upTo(59_999), axis.directions[s.upTo(1)]
		if deg+minute+sec == 0 {
			dir = axis.directions[0]
		}
		s.add(fmt.Sprintf("%d %d %d.%03d %c", deg, minute, sec/1000, sec%1000, dir),
			fmt.Sprintf("%03d %02d %02d.%03d %c", deg, minute, sec/1000, sec%1000, dir))
	}
	alt := s.upTo(4_000_000_000)
	s.add(fmt.Sprintf("%d.%02dm", alt/100, alt%100), fmt.Sprintf("%d.%02d", alt/100, alt%100))
	for range 3 {
		v := s.upTo(9)
		for range s.upTo(9) {
			v *= 10
		}
		s.add(fmt.Sprintf("%d.%02dm", v/100, v%100), fmt.Sprintf("%d.%02d", v/100, v%100))
	}
}

func (s *spelling) params() {
	type param struct{ name, value, other string }
	var all []param
	take := func(name string, value func() (string, string)) {
		if s.bool() {
			a, b := value()
			all = append(all, param{name, a, b})
		}
	}
	take("alpn", func() (string, string) {
		x := rapid.SliceOfN(rapid.StringMatching(`[ -~]{1,8}`), 1, 3).Draw(s.T, "alpn")
		for i := range x {
			x[i] = strings.NewReplacer(`\`, `\\`, `,`, `\,`).Replace(x[i])
		}
		list := strings.Join(x, ",")
		return "=" + string(appendQuoted(nil, []byte(list))), "=" + escapeAll(list)
	})
	if len(all) > 0 {
		take("no-default-alpn", func() (string, string) { return "", `=""` })
	}
	take("port", func() (string, string) {
		v := s.upTo(65535)
		return fmt.Sprintf("=%d", v), fmt.Sprintf(`="0%d"`, v)
	})
	take("ipv4hint", func() (string, string) {
		x, y := s.address(ipv4), s.address(ipv4)
		return fmt.Sprintf("=%s,%s", x, y), fmt.Sprintf(`="%s,%s"`, x, y)
	})
	take("ech", func() (string, string) {
		x := base64.StdEncoding.EncodeToString(s.bytes(1, 40))
		return "=" + x, `="` + x + `"`
	})
	take("ipv6hint", func() (string, string) {
		x := netip.AddrFrom16([16]byte(append([]byte{0x20, 0x01}, s.bytes(14, 14)...)))
		return "=" + x.String(), "=" + x.StringExpanded()
	})
	take("key667", func() (string, string) {
		x := s.bytes(1, 20)
		return "=" + string(appendQuoted(nil, x)), "=" + escapeAll(string(x))
	})
	if n := len(all); n > 0 && s.bool() {
		all = append([]param{{"mandatory", "=" + all[n-1].name, `="` + all[n-1].name + `"`}}, all...)
	}
	for _, p := range all {
		s.a = append(s.a, p.name+p.value)
	}
	for _, p := range slices.Backward(all) {
		s.b = append(s.b, p.name+p.other)
	}
}

func escapeAll(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\%03d`, s[i])
	}
	return b.String()
}
