package powerdns

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// PowerDNS stores content only in the very form in which it would print it itself ("Not in expected format" otherwise).
// That is the canonical form of package rr but for the types below.

// say returns canonical data in PowerDNS's form.
func say(t rr.Type, data string) (string, error) {
	switch {
	case generic[t]:
		return sayGeneric(t, data)
	case named[t]:
		return sayNamed(t, data)
	case t == rr.TypeAPL && data == `\# 0`:
		return "", nil
	case data == `\# 0`:
		return data + " ", nil
	}
	switch t {
	case rr.TypeAAAA:
		return sayAAAA(data), nil
	case rr.TypeLOC:
		return sayLOC(data), nil
	case rr.TypeSVCB, rr.TypeHTTPS:
		return saySVCB(data), nil
	case rr.TypeCSYNC:
		return sayCSYNC(data), nil
	case rr.TypeIPSECKEY:
		return sayIPSECKEY(data), nil
	}
	return data, nil
}

// sayAAAA writes an IPv4-mapped address in hexadecimal.
func sayAAAA(data string) string {
	a, err := netip.ParseAddr(data)
	if err != nil || !a.Is4In6() {
		return data
	}
	b := a.As16()
	low := func(i int) string { return strconv.FormatUint(uint64(b[i])<<8|uint64(b[i+1]), 16) }
	return "::ffff:" + low(12) + ":" + low(14)
}

// sayLOC writes every distance with two decimals, and the equator and the meridian as south and west.
func sayLOC(data string) string {
	f := strings.Fields(data)
	for i, field := range f {
		if metres, ok := strings.CutSuffix(field, "m"); ok && !strings.Contains(metres, ".") {
			f[i] = metres + ".00m"
		}
		switch {
		case i < 3 || !slices.Equal(f[i-3:i], []string{"0", "0", "0.000"}):
		case field == "N":
			f[i] = "S"
		case field == "E":
			f[i] = "W"
		}
	}
	return strings.Join(f, " ")
}

// saySVCB quotes no alpn and every ech, and gives a key without a value an empty one. Values of alpn have no spaces
// here.
func saySVCB(data string) string {
	f := strings.Split(data, " ")
	for i, field := range f {
		key, value, found := strings.Cut(field, "=")
		switch {
		case key == "alpn" && !strings.Contains(value, `\032`):
			f[i] = key + "=" + strings.Trim(value, `"`)
		case key == "ech":
			f[i] = key + `="` + strings.Trim(value, `"`) + `"`
		case !found && strings.HasPrefix(key, "key"):
			f[i] = key + `=""`
		}
	}
	return strings.Join(f, " ")
}

// sayIPSECKEY leaves out the dot that stands for no gateway.
func sayIPSECKEY(data string) string {
	f := strings.Fields(data)
	if len(f) > 3 && f[1] == "0" {
		f = slices.Delete(f, 3, 4)
	}
	return strings.Join(f, " ")
}

// sayCSYNC writes types by the names that only PowerDNS has.
func sayCSYNC(data string) string {
	f := strings.Fields(data)
	for i, field := range f {
		if t, err := rr.ParseType(field); err == nil && i >= 2 && named[t] {
			f[i] = dns.TypeToString[uint16(t)]
		}
	}
	return strings.Join(f, " ")
}

// generic are the types that PowerDNS 4.7 does not know and stores in the form of RFC 3597.
var generic = map[rr.Type]bool{rr.TypeTA: true, rr.TypeHIP: true}

// named are the types that PowerDNS reads by fields, and package rr in the form of RFC 3597.
var named = map[rr.Type]bool{
	rr.Type(dns.TypeSPF): true, rr.Type(dns.TypeMB): true, rr.Type(dns.TypeMG): true, rr.Type(dns.TypeMR): true,
	rr.Type(dns.TypeMINFO): true, rr.Type(dns.TypeRKEY): true, rr.Type(dns.TypeNID): true, rr.Type(dns.TypeL32): true,
	rr.Type(dns.TypeL64): true, rr.Type(dns.TypeLP): true, rr.Type(dns.TypeZONEMD): true,
}

func sayGeneric(t rr.Type, data string) (string, error) {
	record, err := recordOf(t, data)
	if err != nil {
		return "", err
	}
	unknown := new(dns.RFC3597)
	if err := unknown.ToRFC3597(record); err != nil {
		return "", err
	}
	return `\# ` + strconv.Itoa(len(unknown.Rdata)/2) + " " + unknown.Rdata, nil
}

func sayNamed(t rr.Type, data string) (string, error) {
	record, err := recordOf(t, data)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(record.String(), record.Header().String()), nil
}

func recordOf(t rr.Type, data string) (dns.RR, error) {
	records, err := rr.NewSet(rr.Key{Name: dnsname.Root, Type: t}, 0, data).RRs()
	if err != nil {
		return nil, err
	}
	return records[0], nil
}

// hear returns the canonical form of content; false when it is none that can be read.
func hear(t rr.Type, content string) (string, bool) {
	if t == rr.TypeAPL && content == "" {
		content = `\# 0`
	}
	if f := strings.Fields(content); t == rr.TypeIPSECKEY && len(f) == 4 && f[1] == "0" {
		content = strings.Join(slices.Insert(f, 3, "."), " ")
	}
	if data, err := rr.ParseData(t, strings.TrimSpace(content)); err == nil {
		return data, true
	}
	if !named[t] || strings.ContainsAny(content, "\r\n") {
		return "", false
	}
	parser := dns.NewZoneParser(strings.NewReader(". 0 IN "+dns.TypeToString[uint16(t)]+" "+content+"\n"), "", "")
	record, ok := parser.Next()
	if !ok {
		return "", false
	}
	sets, err := rr.FromRRs([]dns.RR{record})
	if err != nil {
		return "", false
	}
	return sets[0].Data[0], true
}
