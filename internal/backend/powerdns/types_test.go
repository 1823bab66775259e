package powerdns_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// examples are the good ones of every type that anybody may write.
func examples(t *testing.T) map[rr.Type][]string {
	t.Helper()
	good := backendtest.Examples(t, rr.Type.Refused)
	good[rr.TypeCNAME] = []string{"target.example.org."}
	// Types that PowerDNS reads by fields and package rr in the form of RFC 3597: SPF, NID, L32, LP.
	for typ, data := range map[rr.Type]string{
		99: `\# 3 026162`, 104: `\# 10 000a00144fffff20ee64`, 105: `\# 6 000a0a010200`, 107: `\# 7 000a0161016200`,
	} {
		canonical, err := rr.ParseData(typ, data)
		if err != nil {
			t.Fatal(err)
		}
		good[typ] = append(good[typ], canonical)
	}
	return good
}

// unloved says what PowerDNS 4.7 refuses although it is valid.
func unloved(typ rr.Type, data string) bool {
	switch typ {
	case rr.TypeDNSKEY: // only at the apex
		return true
	case rr.TypeKEY: // without a key
		return data == "49152 3 5"
	case rr.TypeLOC: // its altitude and sizes are too small for the largest
		return strings.Contains(data, "42849672.95m")
	}
	return false
}

func TestEveryTypeIsStoredAsItWasSent(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := client(t, p, p.APIKey)
	zone := parse(t, "example.org.")
	for typ, data := range examples(t) {
		for i, d := range data {
			want := rr.NewSet(rr.Key{Name: parse(t, fmt.Sprintf("t%d-%d.example.org.", typ, i)), Type: typ}, 300, d)
			_, err := c.Apply(t.Context(), zone, backend.Batch{Changes: []plan.Change{{Key: want.Key(), Want: want}}})
			if err != nil {
				if !unloved(typ, d) {
					t.Errorf("%s %s: %v", typ, d, err)
				}
				if !errors.Is(err, backend.ErrRejected) {
					t.Errorf("and the class is %s", backend.Class(err))
				}
				continue
			}
			found, err := c.Read(t.Context(), zone, backend.Ask{Keys: []rr.Key{want.Key()}})
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := found.Sets.Get(want.Key()); !got.Equal(want) {
				t.Errorf("%s was sent as\n%s and came back as\n%s", typ, want.Data, got.Data)
			}
		}
	}
}
