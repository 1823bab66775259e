package extdns

import (
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/endpoint"
	"github.com/zonefold/zonefold/internal/rr"
)

// setOf is a set as one or several endpoints say it. Several that differ in their identifier are answered by turns, by
// weight or by place; such a thing, and what cannot be read, is there and equals nothing that is ever wanted.
func setOf(key rr.Key, endpoints []endpoint.Endpoint) rr.Set {
	var data []string
	ttl := uint32(0)
	for _, e := range endpoints {
		if e.RecordTTL > 0 && e.RecordTTL <= 1<<31-1 {
			ttl = uint32(e.RecordTTL)
		}
		for _, target := range e.Targets {
			said, err := endpoint.Data(key.Type, target)
			if err != nil || e.SetIdentifier != "" {
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
