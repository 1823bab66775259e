package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func name(t testing.TB, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sets reads lines such as "www 300 A 192.0.2.1 192.0.2.2", names relative to example.org.; data are separated by
// spaces, or by " | " where they have some themselves.
func sets(t testing.TB, text string) rr.Sets {
	t.Helper()
	var none rr.Sets
	txn := none.Txn()
	for line := range strings.Lines(text) {
		if s, ok := set(t, line); ok {
			txn.Put(s)
		}
	}
	return txn.Sets()
}

func set(t testing.TB, line string) (rr.Set, bool) {
	t.Helper()
	f := strings.Fields(line)
	if len(f) == 0 {
		return rr.Set{}, false
	}
	owner := "example.org."
	if f[0] != "@" {
		owner = f[0] + "." + owner
	}
	typ, err := rr.ParseType(f[2])
	if err != nil {
		t.Fatal(err)
	}
	var ttl uint32
	if _, err := fmt.Sscan(f[1], &ttl); err != nil {
		t.Fatal(err)
	}
	data := f[3:]
	if rest := strings.Join(data, " "); strings.Contains(rest, "|") || typ == rr.TypeDS {
		data = strings.Split(rest, " | ")
	}
	return rr.NewSet(rr.Key{Name: name(t, owner), Type: typ}, ttl, data...), true
}

// show prints changes as "+www A", "~www A", "-www A".
func show(changes []plan.Change) []string {
	var out []string
	for _, c := range changes {
		sign := "~"
		switch {
		case c.Creates():
			sign = "+"
		case c.Deletes():
			sign = "-"
		}
		out = append(out, sign+strings.TrimSuffix(strings.TrimSuffix(c.Key.Name.String(), "example.org."), ".")+" "+
			c.Key.Type.String())
	}
	return out
}

func TestDiff(t *testing.T) {
	for _, c := range []struct {
		name       string
		have, want string
		keep       bool
		written    string
		apexNS     plan.ApexNS
		min, max   uint32
		changes    []string
		foreign    int
	}{
		{name: "two empty zones do not differ"},
		{
			name: "what is missing is added, what differs is changed, what is not wanted is deleted",
			have: "a 60 A 192.0.2.1\nb 60 A 192.0.2.1\nd 60 A 192.0.2.1", want: "a 60 A 192.0.2.1\nb 60 A 192.0.2.2\nc " +
				"60 A 192.0.2.1",
			changes: []string{"~b A", "+c A", "-d A"},
		},
		{name: "another TTL is a difference", have: "a 60 A 192.0.2.1", want: "a 61 A 192.0.2.1", changes: []string{"~a A"}},
		{
			name: "a TTL below the server's minimum is not a difference once it was raised",
			have: "a 60 A 192.0.2.1", want: "a 1 A 192.0.2.1", min: 60,
		},
		{name: "a TTL above the server's maximum is lowered", have: "a 60 A 192.0.2.1", want: "a 900 A 192.0.2.1", max: 60},
		{
			name: "foreign sets stay where they are kept, and are counted",
			have: "a 60 A 192.0.2.1\nours 60 A 192.0.2.1", want: "b 60 A 192.0.2.1", keep: true, written: "ours 60 A 192.0.2.9",
			changes: []string{"+b A", "-ours A"}, foreign: 1,
		},
		{
			name: "a claimed set is never foreign",
			have: "a 60 A 192.0.2.1", want: "a 60 A 192.0.2.2", keep: true, changes: []string{"~a A"},
		},
		{
			name: "what a server makes itself is not touched",
			have: "@ 60 DNSKEY x\n@ 60 CDS x\n@ 60 CDNSKEY x\n@ 60 TYPE65534 x\n@ 60 RRSIG x\na 60 NSEC x\na 60 NSEC3 x\n@ 60 " +
				"NSEC3PARAM x\n@ 60 SOA x",
		},
		{name: "a server-made type that is wanted is in scope", want: "@ 60 CDS x", changes: []string{"+ CDS"}},
		{
			name: "a server-made type is deleted only if it was written",
			have: "@ 60 CDS x\n@ 60 CDNSKEY x", written: "@ 60 CDS x", changes: []string{"- CDS"},
		},
		{
			name: "apex NS are changed as any other set",
			have: "@ 60 NS a.example.org.", want: "@ 60 NS b.example.org.", changes: []string{"~ NS"},
		},
		{name: "apex NS are deleted as any other set", have: "@ 60 NS a.example.org.", changes: []string{"- NS"}},
		{name: "apex NS that a server needs are never deleted", have: "@ 60 NS a.example.org.", apexNS: plan.ApexNSRequired},
		{
			name:   "the addresses that apex NS need stay with them, and nothing else does",
			have:   "@ 60 NS a.example.org.\na 60 A 192.0.2.1\na 60 AAAA 2001:db8::1\na 60 TXT x\nb 60 A 192.0.2.1",
			apexNS: plan.ApexNSRequired, changes: []string{"-a TXT", "-b A"},
		},
		{
			name: "addresses go with the apex NS that needed them",
			have: "@ 60 NS a.example.org.\na 60 A 192.0.2.1", want: "@ 60 NS b.example.net.",
			apexNS: plan.ApexNSRequired, changes: []string{"~ NS", "-a A"},
		},
		{
			name: "the addresses of apex NS of the server's own stay",
			have: "@ 60 NS a.example.org.\na 60 A 192.0.2.1", want: "@ 60 NS b.example.net.", apexNS: plan.ApexNSLeft,
		},
		{
			name: "apex NS that a server needs are changed",
			have: "@ 60 NS a.example.org.", want: "@ 60 NS b.example.org.", apexNS: plan.ApexNSRequired,
			changes: []string{"~ NS"},
		},
		{
			name: "apex NS of the server's own are left alone",
			have: "@ 60 NS a.example.org.", want: "@ 60 NS b.example.org.", apexNS: plan.ApexNSLeft,
		},
		{
			name: "where foreign sets are kept the server's apex NS stays, and the wanted one is added",
			have: "@ 60 NS a.example.org.", want: "@ 300 NS b.example.org.", keep: true, changes: []string{"~ NS"},
		},
		{
			name: "where foreign sets are kept a complete union needs no change",
			have: "@ 60 NS a.example.org. | b.example.org.", want: "@ 300 NS b.example.org.", keep: true,
			written: "@ 300 NS b.example.org.",
		},
		{
			name: "where foreign sets are kept only the own values of the apex NS go",
			have: "@ 60 NS a.example.org. | b.example.org.", keep: true, written: "@ 300 NS b.example.org.",
			apexNS: plan.ApexNSRequired, changes: []string{"~ NS"},
		},
		{
			name: "where foreign sets are kept and there is no apex NS it is added",
			want: "@ 60 NS b.example.org.", keep: true, changes: []string{"+ NS"},
		},
		{
			name: "where foreign sets are kept an apex NS that zonefold wrote is changed",
			have: "@ 60 NS a.example.org.", want: "@ 60 NS b.example.org.", keep: true, written: "@ 60 NS a.example.org.",
			changes: []string{"~ NS"},
		},
		{
			name: "the NS of a cut are no apex NS",
			have: "sub 60 NS a.example.org.", apexNS: plan.ApexNSLeft, changes: []string{"-sub NS"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			have, want := sets(t, c.have), sets(t, c.want)
			scope := plan.Scope{
				Apex: name(t, "example.org."), Keep: c.keep, Written: sets(t, c.written), ApexNS: c.apexNS, MinTTL: c.min,
				MaxTTL: c.max,
			}
			p := plan.Diff(have, want, scope)
			if d := cmp.Diff(c.changes, show(p.Changes)); d != "" {
				t.Errorf("changes (-want +got):\n%s", d)
			}
			if p.Foreign != c.foreign {
				t.Errorf("%d foreign sets, want %d", p.Foreign, c.foreign)
			}
			var keys []rr.Key
			for s := range have.All() {
				keys = append(keys, s.Key())
			}
			for s := range want.All() {
				keys = append(keys, s.Key())
			}
			if d := cmp.Diff(p.Changes, plan.DiffKeys(have, want, keys, scope).Changes); d != "" {
				t.Errorf("by keys it differs (-diff +keys):\n%s", d)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name       string
		have, want string
		changes    []string
	}{
		{
			name: "an address leaves a name before a CNAME takes it", have: "a 60 A 192.0.2.1\na 60 AAAA 2001:db8::1",
			want:    "a 60 CNAME b.example.org.",
			changes: []string{"-a A", "-a AAAA", "+a CNAME"},
		},
		{
			name: "a CNAME leaves a name before addresses take it", have: "a 60 CNAME b.example.org.",
			want:    "a 60 A 192.0.2.1\na 60 AAAA 2001:db8::1",
			changes: []string{"-a CNAME", "+a A", "+a AAAA"},
		},
		{
			name:    "a name server's address is there before the cut, and leaves after it",
			have:    "ns.old 60 A 192.0.2.1\nold 60 NS ns.old.example.org.",
			want:    "z.new 60 A 192.0.2.1\nnew 60 NS z.new.example.org.",
			changes: []string{"+z.new A", "+new NS", "-old NS", "-ns.old A"},
		},
		{
			name: "hosts of MX and SRV have addresses before they are named, and keep them until they are not",
			have: "_s._tcp 60 SRV 1 1 1 b.example.org. |\nb 60 A 192.0.2.1", want: "@ 60 MX 10 a.example.org. |\na " +
				"60 A 192.0.2.1",
			changes: []string{"+a A", "+ MX", "-_s._tcp SRV", "-b A"},
		},
		{
			name: "DS comes after its cut and leaves before it", have: "old 60 DS 1 8 2 00\nold 60 NS ns.example.org.",
			want: "new 60 DS 1 8 2 00\nnew 60 NS ns.example.org.", changes: []string{"+new NS", "+new DS", "-old DS", "-old NS"},
		},
		{
			name: "what lies below a DNAME that comes leaves first", have: "d 60 A 192.0.2.1\nx.d 60 A 192.0.2.1\ne " +
				"60 A 192.0.2.1",
			want: "d 60 A 192.0.2.1\nd 60 DNAME example.net.", changes: []string{"-x.d A", "+d DNAME", "-e A"},
		},
		{
			name: "a DNAME leaves before what lies below it comes", have: "d 60 DNAME example.net.",
			want:    "a 60 A 192.0.2.1\nx.d 60 A 192.0.2.1",
			changes: []string{"-d DNAME", "+a A", "+x.d A"},
		},
		{
			name: "a CNAME becomes a DNAME over names that leave", have: "d 60 CNAME example.net.\nx.d 60 A 192.0.2.1",
			want:    "d 60 DNAME example.net.",
			changes: []string{"-x.d A", "-d CNAME", "+d DNAME"},
		},
		{
			name: "a CNAME becomes a cut after the other addresses", have: "d 60 CNAME example.net.",
			want:    "d 60 NS ns.example.org.\nns 60 A 192.0.2.1",
			changes: []string{"+ns A", "-d CNAME", "+d NS"},
		},
		{
			name: "new name servers of the zone have addresses, and old ones keep theirs until they are gone",
			have: "@ 60 NS a.example.org.\na 60 A 192.0.2.1", want: "@ 60 NS b.example.org.\nb 60 A 192.0.2.1",
			changes: []string{"+b A", "~ NS", "-a A"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plan.Diff(sets(t, c.have), sets(t, c.want), plan.Scope{Apex: name(t, "example.org.")})
			if d := cmp.Diff(c.changes, show(p.Changes)); d != "" {
				t.Errorf("changes (-want +got):\n%s", d)
			}
		})
	}
}

func TestUnits(t *testing.T) {
	have := sets(t, "a 60 A 192.0.2.1\na 60 AAAA 2001:db8::1\nb 60 A 192.0.2.1\nb 60 TXT x\nc 60 CNAME b.example.org.")
	want := sets(t, "a 60 CNAME b.example.org.\nb 60 A 192.0.2.2\nb 60 TXT y\nc 60 CNAME a.example.org.")
	var got []string
	for u := range plan.Units(plan.Diff(have, want, plan.Scope{}).Changes) {
		got = append(got, strings.Join(show(u), " "))
	}
	if d := cmp.Diff([]string{"-a A -a AAAA +a CNAME", "~b A", "~b TXT", "~c CNAME"}, got); d != "" {
		t.Errorf("units (-want +got):\n%s", d)
	}
}
