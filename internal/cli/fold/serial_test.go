package fold

import (
	"testing"
	"time"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestSerials(t *testing.T) {
	name, err := dnsname.Parse("example.org.")
	if err != nil {
		t.Fatal(err)
	}
	soa := rr.SOA{MName: name, RName: name, TTL: 360, Refresh: 5, Retry: 4, Expire: 3, Minimum: 2}
	old := soa
	old.Serial = 7
	entry := func(s rr.SOA) []kubizone.Entry {
		return []kubizone.Entry{{FQDN: "example.org.", Type: "SOA", Class: "IN", TTL: kubizone.Number(s.TTL),
			RData: s.Data()}}
	}
	longer := old
	longer.TTL = 361
	number := func(n kubizone.Number) *kubizone.Number { return &n }
	now := time.Date(2026, 8, 1, 0, 30, 0, 0, time.FixedZone("", 3600)) // 31 July in UTC
	for _, c := range []struct {
		name   string
		status kubizone.ZoneStatus
		want   uint32
	}{
		{"a new zone gets the date of UTC", kubizone.ZoneStatus{}, 2026073100},
		{"the same content keeps its serial", kubizone.ZoneStatus{Hash: "h", Serial: number(7), Entries: entry(old)}, 7},
		{"so it does where entries are in slices or left out", kubizone.ZoneStatus{Hash: "h", Serial: number(7)}, 7},
		{"a serial of the future is kept too", kubizone.ZoneStatus{Hash: "h", Serial: number(4294967295)}, 4294967295},
		{"other content gets the date", kubizone.ZoneStatus{Hash: "x", Serial: number(7)}, 2026073100},
		{"or one more than the last", kubizone.ZoneStatus{Hash: "x", Serial: number(2026073199)}, 2026073200},
		{"another TTL of the SOA is other content", kubizone.ZoneStatus{Hash: "h", Serial: number(2026073100),
			Entries: entry(longer)}, 2026073101},
		{"a SOA that cannot be read is other content", kubizone.ZoneStatus{Hash: "h", Serial: number(2026073100),
			Entries: []kubizone.Entry{{Type: "SOA"}}}, 2026073101},
		{"a serial that is none counts as missing", kubizone.ZoneStatus{Hash: "h", Serial: number(-1)}, 2026073100},
		{"so does one beyond 32 bits", kubizone.ZoneStatus{Hash: "h", Serial: number(1 << 40)}, 2026073100},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := serialOf(c.status, zone.Snapshot{Name: name, SOA: soa, Hash: "h"}, now); got != c.want {
				t.Errorf("the serial is %d, want %d", got, c.want)
			}
		})
	}
}
