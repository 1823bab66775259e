package dnshook

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// IDOf returns the name of a set in the protocol, or why it has none.
func IDOf(zone dnsname.Name, key rr.Key) (dnshook.ID, error) {
	id := dnshook.ID{
		Type: key.Type.String(), Domain: strings.TrimSuffix(zone.String(), "."), Subdomain: key.Name.In(zone),
	}
	canonical, err := id.Canonical()
	if err == nil && canonical != id {
		err = errors.New("its name is written differently there")
	}
	if err != nil {
		return id, fmt.Errorf("the protocol of DNSClasses has no name for %s: %w", key, err)
	}
	return id, nil
}

// RecordOf returns a set as a record of the protocol, or why it cannot be one: a record has one MX priority and one set
// of SRV numbers for all its values, and text without its division into strings.
func RecordOf(zone dnsname.Name, set rr.Set) (dnshook.Record, error) {
	id, err := IDOf(zone, set.Key())
	if err != nil {
		return dnshook.Record{}, err
	}
	r := dnshook.Record{Type: id.Type, Domain: id.Domain, Subdomain: id.Subdomain, TTL: set.TTL}
	for _, data := range set.Data {
		value, numbers, err := valueOf(set.Type, data)
		if err != nil {
			return dnshook.Record{}, err
		}
		if r.Metadata != nil && !slices.Equal(listed(r.Metadata), listed(numbers)) {
			return dnshook.Record{}, fmt.Errorf(
				"%s has values with different numbers before the host, but a record of the protocol has one for all; give all "+
					"values of the name the same %s", set.Key(), map[rr.Type]string{rr.TypeMX: "priority"}[set.Type]+
					srvWords(set.Type))
		}
		r.Metadata, r.Values = numbers, append(r.Values, value)
	}
	back, err := SetOf(r, set.Key())
	if err == nil && !slices.Equal(back.Data, set.Data) {
		err = fmt.Errorf("it would arrive as %s", strings.Join(back.Data, ", "))
	}
	if err != nil {
		return dnshook.Record{}, fmt.Errorf("the protocol of DNSClasses cannot carry %s as it is: %w", set.Key(), err)
	}
	return r, nil
}

func srvWords(t rr.Type) string {
	if t == rr.TypeSRV {
		return "priority, weight and port"
	}
	return ""
}

// SetOf returns a record as the set of a key, whose name counts.
func SetOf(r dnshook.Record, key rr.Key) (rr.Set, error) {
	canonical, err := r.Canonical()
	if err != nil {
		return rr.Set{}, err
	}
	data, err := canonical.Data()
	if err != nil {
		return rr.Set{}, err
	}
	return rr.NewSet(key, canonical.TTL, data...), nil
}

// valueOf divides rdata into the value of a record and the numbers beside it.
func valueOf(t rr.Type, data string) (string, *dnshook.Metadata, error) {
	fields := strings.Split(data, " ")
	var n [3]*uint16
	numbers := map[rr.Type]int{rr.TypeMX: 1, rr.TypeSRV: 3}[t]
	if len(fields) != numbers+1 && numbers > 0 {
		return "", nil, fmt.Errorf("%q is not valid data for the type %s", data, t)
	}
	for i := range numbers {
		v, err := strconv.ParseUint(fields[i], 10, 16)
		if err != nil {
			return "", nil, fmt.Errorf("%q is not valid data for the type %s: %w", data, t, err)
		}
		n[i] = new(uint16(v))
	}
	switch t {
	case rr.TypeMX, rr.TypeSRV:
		return host(fields[numbers]), &dnshook.Metadata{Priority: n[0], Weight: n[1], Port: n[2]}, nil
	case rr.TypeCNAME, rr.TypeNS, rr.TypePTR:
		return host(data), nil, nil
	case rr.TypeTXT:
		text, err := textOf(data)
		return text, nil, err
	}
	return data, nil, nil
}

// host is a name without its final dot, but for the root.
func host(name string) string {
	if name == "." {
		return name
	}
	return strings.TrimSuffix(name, ".")
}

func listed(m *dnshook.Metadata) []int {
	var out []int
	for _, n := range []*uint16{m.Priority, m.Weight, m.Port} {
		if n != nil {
			out = append(out, int(*n))
		}
	}
	return out
}

// textOf joins the strings of canonical TXT data.
func textOf(data string) (string, error) {
	var out []byte
	quoted := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted: // the space between two
		case c != '\\':
			out = append(out, c)
		case i+3 < len(data) && data[i+1] >= '0' && data[i+1] <= '9':
			n, err := strconv.ParseUint(data[i+1:i+4], 10, 8)
			if err != nil {
				return "", fmt.Errorf("reading the text %s: %w", data, err)
			}
			out = append(out, byte(n))
			i += 3
		case i+1 < len(data):
			i++
			out = append(out, data[i])
		}
	}
	if !utf8.Valid(out) {
		return "", fmt.Errorf("the text %s is not UTF-8, so JSON cannot hold it", data)
	}
	return string(out), nil
}
