package googleclouddns

import (
	"fmt"
	"strings"

	miekg "github.com/miekg/dns"
	"google.golang.org/api/dns/v1"

	"github.com/zonefold/zonefold/internal/rr"
)

// book is what is known of a zone, as the service writes it.
type book struct {
	complete bool // all of the zone is there, as it was once
	sets     map[rr.Key]*dns.ResourceRecordSet
}

// put notes a set, nil if there is none.
func (b *book) put(key rr.Key, set *dns.ResourceRecordSet) {
	if b.sets == nil {
		b.sets = map[rr.Key]*dns.ResourceRecordSet{}
	}
	if set == nil {
		delete(b.sets, key)
		return
	}
	b.sets[key] = set
}

// set is what is known of a key, the zero Set if there is nothing.
func (b *book) set(key rr.Key) rr.Set {
	set := b.sets[key]
	if set == nil {
		return rr.Set{}
	}
	return fromSet(key, set)
}

// keyOf is the key of a set.
func keyOf(set *dns.ResourceRecordSet) (rr.Key, error) {
	name, err := rr.MessageName(set.Name)
	if err != nil || !strings.HasSuffix(set.Name, ".") {
		return rr.Key{}, fmt.Errorf("a set has the name %q", set.Name)
	}
	t, err := rr.ParseType(set.Type)
	if err != nil {
		t = rr.Type(miekg.StringToType[set.Type]) // 0 for the service's own, such as ALIAS, which nobody can want
	}
	return rr.Key{Name: name, Type: t}, nil
}

// fromSet reads a set. One that is answered by a policy, and data that cannot be read, are there and equal nothing that
// is ever wanted.
func fromSet(key rr.Key, set *dns.ResourceRecordSet) rr.Set {
	ttl := uint32(max(0, min(set.Ttl, 1<<32-1)))
	if set.RoutingPolicy != nil || len(set.Rrdatas) == 0 {
		return rr.NewSet(key, ttl, odd("policy"))
	}
	data := make([]string, len(set.Rrdatas))
	for i, text := range set.Rrdatas {
		canonical, err := rr.ParseData(key.Type, text)
		if err != nil && key.Type == rr.TypeTXT {
			canonical, err = rr.Text(text), nil // without quotation marks
		}
		if err != nil {
			canonical = odd(text)
		}
		data[i] = canonical
	}
	return rr.NewSet(key, ttl, data...)
}

func odd(text string) string { return fmt.Sprintf(`\# %d %x`, len(text), text) }

// toSet is a set as the service takes it.
func toSet(set rr.Set) (*dns.ResourceRecordSet, error) {
	for _, data := range set.Data {
		if strings.HasPrefix(data, `\#`) {
			return nil, fmt.Errorf("%s: the data are in the form of RFC 3597, which the service does not support", set.Key())
		}
	}
	return &dns.ResourceRecordSet{Name: set.Name.String(), Type: set.Type.String(), Ttl: int64(set.TTL), Rrdatas: set.Data,
		ForceSendFields: []string{"Ttl"}}, nil
}
