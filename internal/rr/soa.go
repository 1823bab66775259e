package rr

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// A SOA is the start of a zone (RFC 1035 §3.3.13). The times are in seconds;
// Minimum is the TTL of negative answers (RFC 2308 §4); TTL is the record's own.
type SOA struct {
	MName, RName                                 dnsname.Name
	Serial, Refresh, Retry, Expire, Minimum, TTL uint32
}

// Data returns the canonical rdata, which does not hold the TTL.
func (s SOA) Data() string {
	buf := make([]byte, 0, 128)
	buf = append(buf, s.MName.String()...)
	buf = append(buf, ' ')
	buf = append(buf, s.RName.String()...)
	for _, v := range [...]uint32{s.Serial, s.Refresh, s.Retry, s.Expire, s.Minimum} {
		buf = strconv.AppendUint(append(buf, ' '), uint64(v), 10)
	}
	return string(buf)
}

// ParseSOA reads rdata in any valid form. TTL is zero.
func ParseSOA(data string) (SOA, error) {
	canonical, err := ParseData(TypeSOA, data)
	if err != nil {
		return SOA{}, err
	}
	f := strings.Fields(canonical)
	if len(f) != 7 {
		return SOA{}, fmt.Errorf("SOA data %q has %d fields, not 7", canonical, len(f))
	}
	var s SOA
	if s.MName, err = dnsname.Parse(f[0]); err != nil {
		return SOA{}, fmt.Errorf("SOA mname: %w", err)
	}
	if s.RName, err = dnsname.Parse(f[1]); err != nil {
		return SOA{}, fmt.Errorf("SOA rname: %w", err)
	}
	for i, v := range []*uint32{&s.Serial, &s.Refresh, &s.Retry, &s.Expire, &s.Minimum} {
		n, err := strconv.ParseUint(f[2+i], 10, 32)
		if err != nil {
			return SOA{}, fmt.Errorf("SOA field %q: %w", f[2+i], err)
		}
		*v = uint32(n)
	}
	return s, nil
}
