package rr

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

// A Decoder reads records of miekg/dns one by one, as FromRRs does of many. The zero Decoder is for records of messages
// and transfers; a Decoder is not safe for concurrent use.
type Decoder struct {
	// Text says that the records come from the library's reader of master files, which leaves escapes in the values of
	// CAA and URI, where a message has octets.
	Text bool

	buffer buffer
}

// Decode returns the key of a record and its data in a form that ParseData takes if the data is valid. It fails on a
// class other than IN.
func (d *Decoder) Decode(r dns.RR) (Key, string, error) {
	h := r.Header()
	name, err := MessageName(h.Name)
	if err != nil {
		return Key{}, "", fmt.Errorf("reading the owner of a record: %w", err)
	}
	key := Key{name, Type(h.Rrtype)}
	if h.Class != dns.ClassINET {
		return key, "", fmt.Errorf("its class is %s, not IN", dns.Class(h.Class))
	}
	if d.Text && key.Type.has(raw) {
		if _, generic := r.(*dns.RFC3597); !generic {
			return key, strings.TrimPrefix(r.String(), h.String()), nil
		}
	}
	return key, d.buffer.data(r), nil
}

// Strings returns the character-strings of canonical data that consists of nothing else, such as that of TXT records,
// without their quotes and escapes. One string may have more than 255 octets, as the value of CAA has.
func Strings(data string) ([]string, error) {
	c := newCodec(TypeTXT)
	c.rest = data
	var out []string
	for c.more() {
		t, err := c.token("text")
		if err != nil {
			return nil, err
		}
		octets, err := appendString(nil, t.text)
		if err != nil {
			return nil, err
		}
		out = append(out, string(octets))
	}
	return out, nil
}
