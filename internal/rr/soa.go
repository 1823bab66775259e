package rr

import (
	"encoding/binary"
	"strconv"

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

// SetAt returns the SOA of a zone as a set, without its serial.
func (s SOA) SetAt(zone dnsname.Name) Set {
	s.Serial = 0
	return NewSet(Key{Name: zone, Type: TypeSOA}, s.TTL, s.Data())
}

// ParseSOA reads rdata in any valid form. TTL is zero. The error is a sentence
// about data.
func ParseSOA(data string) (SOA, error) {
	c := newCodec(TypeSOA)
	c.collect = true
	err := c.parse(data)
	if err == nil {
		err = c.print()
	}
	if err != nil {
		return SOA{}, c.explain(data, err)
	}
	s := SOA{MName: c.names[0], RName: c.names[1]}
	numbers := c.data[len(c.data)-20:]
	for i, v := range [...]*uint32{&s.Serial, &s.Refresh, &s.Retry, &s.Expire, &s.Minimum} {
		*v = binary.BigEndian.Uint32(numbers[4*i:])
	}
	return s, nil
}
