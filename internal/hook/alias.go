package hook

import (
	"context"
	"fmt"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// aliased says which alias would not stand alone after some changes (RFC 1034 §3.6.2), nil if none: at the apex is the
// SOA at least. Whoever has the embedded name server serve zones sees to that, as other servers do themselves.
func (k *Kept) aliased(ctx context.Context, zone dnsname.Name, changes []plan.Change) error {
	seen := map[dnsname.Name]bool{}
	var keys []rr.Key
	for _, c := range changes {
		if name := c.Key.Name; len(c.Want.Data) > 0 && !seen[name] {
			seen[name] = true
			for _, kind := range dnshook.Types() {
				t, _ := rr.ParseType(kind) // one that there is
				keys = append(keys, rr.Key{Name: name, Type: t})
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	found, err := k.Backend.Read(ctx, zone, backend.Ask{Keys: keys})
	if err != nil {
		return err
	}
	txn := found.Sets.Txn()
	for _, c := range changes {
		if len(c.Want.Data) == 0 {
			txn.Delete(c.Key)
		} else {
			txn.Put(c.Want)
		}
	}
	sets := txn.Sets()
	for name := range seen {
		_, alias := sets.Get(rr.Key{Name: name, Type: rr.TypeCNAME})
		beside := name == zone
		for set := range sets.At(name) {
			beside = beside || set.Type != rr.TypeCNAME
		}
		if alias && beside {
			return &backend.Error{Class: backend.ErrRejected, Err: fmt.Errorf(
				"an alias (CNAME) and other records cannot both be at %s", name)}
		}
	}
	return nil
}
