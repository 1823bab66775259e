package rr

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSOA(t *testing.T) {
	soa := SOA{MName: name(t, "ns.example.org."), RName: name(t, "hostmaster.example.org."), Serial: 2024010100,
		Refresh: 86400, Retry: 7200, Expire: 3600000, Minimum: 360}
	const data = "ns.example.org. hostmaster.example.org. 2024010100 86400 7200 3600000 360"
	if got := soa.Data(); got != data {
		t.Errorf("got %s", got)
	}
	for _, s := range []string{data, " NS.example.org.\thostmaster.example.org. 2024010100 1d 2h 1000h 6m"} {
		if got, err := ParseSOA(s); err != nil || got != soa {
			t.Errorf("%s: got %v, %v", s, got, err)
		}
	}
	if _, err := ParseSOA("ns.example.org. hostmaster.example.org. 1"); err == nil || !strings.Contains(err.Error(),
		"the refresh is missing") {
		t.Errorf("got %v", err)
	}
}

func TestSOADataIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := func(what string) uint32 { return rapid.Uint32().Draw(t, what) }
		soa := SOA{drawName(t, 4), drawName(t, 4), u("serial"), u("refresh"), u("retry"), u("expire"), u("minimum"), 0}
		checkCanonical(t, TypeSOA, soa.Data())
		if got, err := ParseSOA(soa.Data()); err != nil || got != soa {
			t.Fatalf("%v became %v, %v", soa, got, err)
		}
	})
}

func TestSerialsAreInCircularOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b uint32
		want bool
	}{
		{"one more is more", 1, 2, true},
		{"one less is not", 2, 1, false},
		{"the same is not less", 7, 7, false},
		{"zero follows the largest", math.MaxUint32, 0, true},
		{"and not the other way round", 0, math.MaxUint32, false},
		{"nearly half way round is more", 0, 1<<31 - 1, true},
		{"half way round there is no order", 0, 1 << 31, false},
		{"in neither direction", 1 << 31, 0, false},
		{"more than half way round is less", 0, 1<<31 + 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := SerialLess(c.a, c.b); got != c.want {
				t.Errorf("SerialLess(%d, %d) is %v", c.a, c.b, got)
			}
		})
	}
}
