package nameserver_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
)

// tells is what a primary zone of BIND needs to tell a secondary of changes, and to send them however large they are
// beside the zone.
func tells(secondary *nameserver.Server) string {
	addr := netip.MustParseAddrPort(secondary.Addr())
	return fmt.Sprintf("notify explicit; also-notify { %s port %d; }; max-ixfr-ratio unlimited;", addr.Addr(), addr.Port())
}

// pair starts a BIND without zones and a secondary that follows it.
func pair(t *testing.T, program string, follow nameserver.Follow) (primary, secondary *nameserver.Server) {
	t.Helper()
	keys := options(t).Keys
	primary, err := nameserver.StartBIND(t.Context(), nameserver.Options{Dir: t.TempDir(), Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(primary.Close)
	follow.Primary, follow.Key = netip.MustParseAddrPort(primary.Addr()), &keys[0]
	secondary, err = starters[program](t.Context(), nameserver.Options{Dir: t.TempDir(), Keys: keys, Follow: &follow})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(secondary.Close)
	return primary, secondary
}

func TestSecondariesFollowByIXFR(t *testing.T) {
	for _, program := range []string{"BIND", "Knot", "NSD"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			zone := name(t, "example.org.")
			primary, secondary := pair(t, program, nameserver.Follow{Zones: []dnsname.Name{zone}})
			if err := primary.AddZone(ctx, nameserver.Zone{Name: zone, Extra: tells(secondary)}); err != nil {
				t.Fatal(err)
			}
			for serial := range uint32(4) {
				if err := secondary.Await(ctx, zone, serial+1); err != nil {
					t.Fatal(err)
				}
				wantTransfers(ctx, t, secondary, nameserver.Transfers{Whole: 1, Changes: int(serial)})
				if serial < 3 {
					update(t, primary, options(t).Keys[0])
				}
			}
			wantSame(ctx, t, primary, secondary, zone)
			if err := secondary.Restart(ctx); err != nil {
				t.Fatal(err)
			}
			update(t, primary, options(t).Keys[0])
			if err := secondary.Await(ctx, zone, 5); err != nil {
				t.Fatal(err)
			}
			wantSame(ctx, t, primary, secondary, zone)
		})
	}
}

// TestWholeZonesAreCountedAsSuch has a primary answer IXFR with the whole zone.
func TestWholeZonesAreCountedAsSuch(t *testing.T) {
	for _, program := range []string{"BIND", "Knot", "NSD"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			zone := name(t, "example.org.")
			primary, secondary := pair(t, program, nameserver.Follow{Zones: []dnsname.Name{zone}})
			whole := strings.Replace(tells(secondary), "ratio unlimited", "ratio 1%", 1)
			if err := primary.AddZone(ctx, nameserver.Zone{Name: zone, Extra: whole}); err != nil {
				t.Fatal(err)
			}
			for serial := range uint32(3) {
				if err := secondary.Await(ctx, zone, serial+1); err != nil {
					t.Fatal(err)
				}
				wantTransfers(ctx, t, secondary, nameserver.Transfers{Whole: int(serial) + 1})
				update(t, primary, options(t).Keys[0])
			}
		})
	}
}

// wantTransfers waits until the server's log has come to what it serves.
func wantTransfers(ctx context.Context, t *testing.T, s *nameserver.Server, want nameserver.Transfers) {
	t.Helper()
	for ctx.Err() == nil {
		got, err := s.Transfers(ctx, name(t, "example.org."))
		if err == nil && got == want {
			return
		}
		if err != nil || got.Whole+got.Changes >= want.Whole+want.Changes {
			t.Fatalf("the server has counted %+v (%v), want %+v", got, err, want)
		}
	}
	t.Fatalf("the server has not counted %+v in time", want)
}

func wantSame(ctx context.Context, t *testing.T, primary, secondary *nameserver.Server, zone dnsname.Name) {
	t.Helper()
	want, err := primary.Transfer(ctx, zone)
	if err != nil {
		t.Fatal(err)
	}
	got, err := secondary.Transfer(ctx, zone)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, want, rr.Set.Equal) {
		t.Errorf("the secondary has\n%v\nand the primary\n%v", got, want)
	}
}

func TestSecondariesFollowACatalog(t *testing.T) {
	for _, program := range []string{"BIND", "Knot"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			catalog := name(t, "catalog.example.")
			primary, secondary := pair(t, program, nameserver.Follow{Catalog: catalog})
			const text = "catalog.example. 60 IN SOA invalid. invalid. %d 3600 600 604800 300\ncatalog.example. 60 IN " +
				"NS invalid.\n" +
				"version.catalog.example. 60 IN TXT \"2\"\none.zones.catalog.example. 60 IN PTR example.org.\n"
			for _, z := range []nameserver.Zone{{Name: name(t, "example.org.")}, {Name: name(t, "example.net.")},
				{Name: catalog, Text: fmt.Sprintf(text, 1)}} {
				z.Extra = tells(secondary)
				if err := primary.AddZone(ctx, z); err != nil {
					t.Fatal(err)
				}
			}
			if err := secondary.Await(ctx, name(t, "example.org."), 1); err != nil {
				t.Fatal(err)
			}
			if _, err := secondary.Serial(ctx, name(t, "example.net.")); err == nil {
				t.Error("the secondary serves what is not in the catalog")
			}
			enter(t, primary)
			if err := secondary.Await(ctx, name(t, "example.net."), 1); err != nil {
				t.Fatal(err)
			}
			wantSame(ctx, t, primary, secondary, name(t, "example.net."))
		})
	}
}

// enter puts example.net into the catalog.
func enter(t *testing.T, primary *nameserver.Server) {
	t.Helper()
	m := new(dns.Msg)
	m.SetUpdate("catalog.example.")
	m.Insert([]dns.RR{&dns.PTR{
		Hdr: dns.RR_Header{Name: "two.zones.catalog.example.", Rrtype: dns.TypePTR, Ttl: 60}, Ptr: "example.net.",
	}})
	send(t, primary, m, options(t).Keys[0])
}

func TestWhatCannotBeFollowedIsSaid(t *testing.T) {
	primary := netip.MustParseAddrPort("127.0.0.1:53")
	for _, test := range []struct {
		program, want string
		follow        nameserver.Follow
	}{
		{"NSD", "it knows no catalog zones", nameserver.Follow{Primary: primary, Catalog: name(t, "catalog.example.")}},
		{"PowerDNS", "not made to follow", nameserver.Follow{Primary: primary,
			Zones: []dnsname.Name{name(t, "example.org.")}}},
		{"Knot", "is no address", nameserver.Follow{Zones: []dnsname.Name{name(t, "example.org.")}}},
	} {
		s, err := starters[test.program](t.Context(), nameserver.Options{Dir: t.TempDir(), Follow: &test.follow})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want one with %q", test.program, err, test.want)
		}
	}
}
