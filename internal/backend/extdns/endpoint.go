package extdns

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/rr"
)

// endpoint is what the protocol calls a set. What else a server says about one goes back to it as it came.
type endpoint struct {
	DNSName          string            `json:"dnsName,omitempty"`
	Targets          []string          `json:"targets,omitempty"`
	RecordType       string            `json:"recordType,omitempty"`
	SetIdentifier    string            `json:"setIdentifier,omitempty"`
	RecordTTL        int64             `json:"recordTTL,omitempty"` // seconds; 0: not said
	Labels           map[string]string `json:"labels,omitempty"`
	ProviderSpecific json.RawMessage   `json:"providerSpecific,omitempty"`
}

// toEndpoint is a set as the protocol has it.
func toEndpoint(set rr.Set) (endpoint, error) {
	name := strings.TrimSuffix(set.Name.String(), ".")
	if name == "" || strings.Contains(name, `\`) {
		return endpoint{}, errors.New("the name has characters that the protocol has no form for")
	}
	out := endpoint{DNSName: name, RecordType: set.Type.String(), RecordTTL: int64(set.TTL),
		Targets: make([]string, len(set.Data))}
	for i, data := range set.Data {
		if strings.HasPrefix(data, `\#`) {
			return endpoint{}, errors.New("the data are in the form of RFC 3597, which the protocol does not have")
		}
		switch set.Type {
		case rr.TypeCNAME, rr.TypeNS, rr.TypePTR, rr.TypeDNAME, rr.TypeMX:
			if data != "." && !strings.HasSuffix(data, " .") {
				data = strings.TrimSuffix(data, ".")
			}
		}
		out.Targets[i] = data
	}
	return out, nil
}

// keyOf is the key of an endpoint.
func keyOf(e endpoint) (rr.Key, error) {
	name, err := rr.MessageName(strings.TrimSuffix(e.DNSName, ".") + ".")
	if err != nil {
		return rr.Key{}, fmt.Errorf("the server's name %q: %w", e.DNSName, err)
	}
	t, err := rr.ParseType(e.RecordType)
	if err != nil {
		known, ok := dns.StringToType[strings.ToUpper(e.RecordType)]
		if !ok {
			return rr.Key{}, fmt.Errorf("%s: the server has records of type %q, which is unknown here", name, e.RecordType)
		}
		t = rr.Type(known)
	}
	return rr.Key{Name: name, Type: t}, nil
}

// setOf is a set as one or several endpoints say it. Several that differ in their identifier are answered by turns, by
// weight or by place; such a thing, and what cannot be read, is there and equals nothing that is ever wanted.
func setOf(key rr.Key, endpoints []endpoint) rr.Set {
	var data []string
	ttl := uint32(0)
	for _, e := range endpoints {
		if e.RecordTTL > 0 && e.RecordTTL <= 1<<31-1 {
			ttl = uint32(e.RecordTTL)
		}
		for _, target := range e.Targets {
			said, ok := canonical(key.Type, target)
			if !ok || e.SetIdentifier != "" {
				said = fmt.Sprintf(`\# %d %x`, len(e.SetIdentifier)+len(target), e.SetIdentifier+target)
			}
			data = append(data, said)
		}
	}
	if len(data) == 0 {
		return rr.Set{}
	}
	return rr.NewSet(key, ttl, data...)
}

// canonical reads a target. Names are absolute, whether they end with a dot or not, and texts may lack quotation marks.
func canonical(t rr.Type, target string) (string, bool) {
	target = strings.TrimSpace(target)
	if t == rr.TypeTXT && !strings.HasPrefix(target, `"`) {
		return rr.Text(target), true
	}
	if data, err := rr.ParseData(t, target); err == nil {
		return data, true
	}
	data, err := rr.ParseData(t, target+".")
	return data, err == nil
}

// joined is the text of a TXT record with the borders of its strings taken out, which not every server keeps.
func joined(data string) string {
	wire, err := rr.Wire(rr.TypeTXT, data)
	if err != nil {
		return data
	}
	var text []byte
	for len(wire) > 0 {
		n := min(int(wire[0]), len(wire)-1)
		text, wire = append(text, wire[1:1+n]...), wire[1+n:]
	}
	return string(text)
}

// alike reports whether what a server has is what was wanted, as far as it can say so: it may leave out TTLs and join
// texts.
func alike(has, want rr.Set) bool {
	if has.Key() != want.Key() || has.TTL != 0 && has.TTL != want.TTL {
		return false
	}
	a, b := has.Data, want.Data
	if has.Type == rr.TypeTXT {
		a, b = texts(a), texts(b)
	}
	return slices.Equal(a, b)
}

func texts(data []string) []string {
	out := make([]string, len(data))
	for i, d := range data {
		out[i] = joined(d)
	}
	slices.Sort(out)
	return out
}
