package zone

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// visitsOf settles a change and returns how many names, claims and Zones that looked at.
func visitsOf(w *World, change func()) int {
	before := w.visits
	change()
	w.Settle()
	return w.visits - before
}

func zoneOf(namespace, name, fqdn string, created int64) Zone {
	z := largeZone(fqdn)
	z.ID, z.Created = ID{KindZone, namespace, name}, time.Unix(created, 0)
	z.Rules = []Rule{{Zones: patterns("*"), Records: []RecordRule{{Pattern: patterns("*")[0]},
		{Pattern: patterns("@")[0]}}}}
	return z
}

// claimOf makes a claim of "namespace/name" for a record such as "A 192.0.2.1".
func claimOf(object, owner string, created int64, record string) Claim {
	namespace, name, _ := strings.Cut(object, "/")
	typ, data, _ := strings.Cut(record, " ")
	return Claim{
		ID: ID{KindRecord, namespace, name}, Created: time.Unix(created, 0),
		Where: Where{Name: must(dnsname.Parse(owner))}, Type: must(rr.ParseType(typ)), Data: []string{data},
	}
}

// The set-up of a large World in which every kind of single change can happen.
func busyWorld(size int) *World {
	w := New(Options{})
	w.PutZone(zoneOf("dns", "org", "org.", 1))
	w.PutZone(zoneOf("dns", "example", "example.org.", 1))
	w.PutZone(zoneOf("team", "small", "small.example.org.", 1))
	for _, c := range addressClaims("example.org.", size) {
		w.PutClaim(c)
	}
	for _, c := range addressClaims("below.example.org.", size) {
		w.PutClaim(c)
	}
	reverse := zoneOf("dns", "reverse", "in-addr.arpa.", 1)
	reverse.Reverse = &Reverse{}
	w.PutZone(reverse)
	w.PutZone(blockOfFour("dns"))
	w.PutClaim(claimOf("dns/ns", "example.org.", 1, "NS ns.example.org."))
	w.PutClaim(claimOf("dns/ns-a", "ns.example.org.", 1, "A 192.0.2.1"))
	w.PutClaim(claimOf("dns/dname", "example.org.", 1, "DNAME example.net."))
	w.PutClaim(claimOf("dns/below", "below.example.org.", 1, `TXT "x"`))
	w.PutClaim(claimOf("team/cut", "below.example.org.", 1, "NS ns.example.net."))
	w.Settle()
	return w
}

// blockOfFour is a Zone for 192.0.2.8 to 192.0.2.11.
func blockOfFour(namespace string) Zone {
	z := zoneOf(namespace, "block", "8-30.2.0.192.in-addr.arpa.", 1)
	z.Reverse = &Reverse{Namespaces: []string{"team"}}
	return z
}

func TestNoSingleChangeVisitsAllSets(t *testing.T) {
	small, large := busyWorld(100), busyWorld(5_000)
	for _, change := range []struct {
		name  string
		apply func(*World)
	}{
		{"a new record", func(w *World) { w.PutClaim(claimOf("team/new", "new.example.org.", 9, "A 192.0.2.9")) }},
		{"its new data", func(w *World) {
			w.PutClaim(claimOf("team/new", "new.example.org.", 9, "A 192.0.2.10"))
		}},
		{"its move to another name", func(w *World) {
			w.PutClaim(claimOf("team/new", "newer.example.org.", 9, "A 192.0.2.10"))
		}},
		{"its end", func(w *World) { w.DeleteClaim(ID{KindRecord, "team", "new"}) }},
		{"a refused record", func(w *World) { w.PutClaim(claimOf("evil/ns", "example.org.", 9, `TXT "y"`)) }},
		{"a record at an apex that has a DNAME", func(w *World) {
			w.PutClaim(claimOf("dns/txt", "example.org.", 9, `TXT "y"`))
		}},
		{"a name server more for the parent and the Zone", func(w *World) {
			w.PutClaim(claimOf("dns/ns2", "example.org.", 9, "NS ns2.example.org."))
		}},
		{"its address, which is glue", func(w *World) {
			w.PutClaim(claimOf("dns/ns2-a", "ns2.example.org.", 9, "A 192.0.2.2"))
		}},
		{"another address", func(w *World) { w.PutClaim(claimOf("dns/ns2-a", "ns2.example.org.", 9, "A 192.0.2.3")) }},
		{"a name of another namespace below a cut", func(w *World) {
			w.PutClaim(claimOf("other/x", "x.below.example.org.", 9, "A 192.0.2.4"))
		}},
		{"an older name of another namespace below a cut", func(w *World) {
			w.PutClaim(claimOf("dns/y", "y.ns.example.org.", 0, "A 192.0.2.5"))
		}},
		{"a sub-zone", func(w *World) { w.PutZone(zoneOf("team", "new", "zone.example.org.", 9)) }},
		{"its name server", func(w *World) {
			w.PutClaim(claimOf("team/zone-ns", "zone.example.org.", 9, "NS ns.example.net."))
		}},
		{"its DS", func(w *World) {
			w.PutClaim(claimOf("team/zone-ds", "zone.example.org.", 9, "DS 1 8 2 ABCD"))
		}},
		{"the end of its name server", func(w *World) { w.DeleteClaim(ID{KindRecord, "team", "zone-ns"}) }},
		{"its end", func(w *World) { w.DeleteZone(ID{KindZone, "team", "new"}) }},
		{"a refused Zone above everything", func(w *World) { w.PutZone(zoneOf("evil", "org", "org.", 9)) }},
		{"a Zone of another top", func(w *World) { w.PutZone(zoneOf("evil", "com", "com.", 9)) }},
		{"the namespaces of a block's PTR records", func(w *World) {
			z := blockOfFour("dns")
			z.Reverse.Namespaces = []string{"dns"}
			w.PutZone(z)
		}},
		{"a Record in place of a PTR", func(w *World) {
			w.PutClaim(claimOf("dns/ptr", "5.2.0.192.in-addr.arpa.", 9, "PTR example.net."))
		}},
		{"another Zone's PTR records", func(w *World) {
			z := zoneOf("dns", "eleven", "11.in-addr.arpa.", 9)
			z.Reverse = &Reverse{}
			w.PutZone(z)
		}},
		{"an SOA timer", func(w *World) {
			z := zoneOf("dns", "example", "example.org.", 1)
			z.Refresh = 77
			w.PutZone(z)
		}},
		{"the rules of a sub-zone", func(w *World) {
			z := zoneOf("team", "small", "small.example.org.", 1)
			z.Rules = nil
			w.PutZone(z)
		}},
	} {
		few := visitsOf(small, func() { change.apply(small) })
		many := visitsOf(large, func() { change.apply(large) })
		if many > few || few > 100 {
			t.Errorf("%s looks at %d things among 5,000 and at %d among 100", change.name, many, few)
		}
	}
}

// A deed is what somebody does n times, or with n objects, to make others pay for it.
type deed struct {
	name string
	most int // visits that an object more may cause
	do   func(w *World, n int)
}

// TestAdversaries proves that the work for n hostile objects is proportional to n,
// whether they come at once or one by one.
func TestAdversaries(t *testing.T) {
	for _, d := range []deed{
		{"malformed objects", 6, func(w *World, n int) {
			for i := range n {
				z := Zone{ID: ID{KindZone, "evil", fmt.Sprint(i)}, Invalid: &Refusal{InvalidName, "It is wrong."}}
				c := Claim{ID: ID{KindRecord, "evil", fmt.Sprint(i)}, Invalid: &Refusal{InvalidData, "It is wrong."}}
				w.PutZone(z)
				w.PutClaim(c)
				w.Settle()
			}
		}},
		{"a chain of zoneRefs, and a rename at its top", 12, func(w *World, n int) {
			chain(w, n, "")
			w.PutZone(zoneOf("evil", "0", "example.com.", 9))
			w.Settle()
		}},
		{"a cycle of zoneRefs that opens and closes", 16, func(w *World, n int) {
			chain(w, n, fmt.Sprint(n-1))
			w.PutZone(zoneOf("evil", "0", "example.com.", 9))
			w.Settle()
			chain(w, 1, fmt.Sprint(n-1))
		}},
		{"name servers at every name above somebody's names", 150, func(w *World, n int) {
			w.PutZone(zoneOf("dns", "example", "example.org.", 1))
			for i := range n {
				w.PutClaim(claimOf(fmt.Sprint("victim/", i), fmt.Sprintf("a.b.c.d.h%d.x.example.org.", i), 5, "A 192.0.2.1"))
			}
			for i := range n / 4 {
				for _, above := range []string{"b.c.d.", "c.d.", "d.", ""} {
					name := fmt.Sprintf("%sh%d.x.example.org.", above, i)
					w.PutClaim(claimOf("evil/"+name, name, 9, "NS ns.example.net."))
				}
				w.PutClaim(claimOf(fmt.Sprint("evil/x", i), "x.example.org.", int64(9+i), fmt.Sprintf("NS ns%d.example.net.", i)))
			}
			w.Settle()
		}},
		{"names that appear one by one below somebody's cut", 40, func(w *World, n int) {
			w.PutZone(zoneOf("dns", "example", "example.org.", 1))
			w.PutClaim(claimOf("dns/dname", "example.org.", 2, "DNAME example.net."))
			for i := range n {
				w.PutClaim(claimOf(fmt.Sprintf("evil%d/%d", i%3, i), fmt.Sprintf("h%d.example.org.", i), int64(3+i/7),
					"A 192.0.2.1"))
				w.Settle()
			}
			for i := range n {
				w.DeleteClaim(ID{KindRecord, fmt.Sprint("evil", i%3), fmt.Sprint(i)})
				w.Settle()
			}
		}},
		{"Zones of other names, one by one, beside each other", 40, func(w *World, n int) {
			w.PutZone(zoneOf("dns", "org", "org.", 1))
			w.PutZone(zoneOf("dns", "example", "example.org.", 1))
			for i := range n {
				w.PutZone(zoneOf("evil", fmt.Sprint(i), fmt.Sprintf("z%d.example.org.", i), 5))
				w.Settle()
			}
		}},
		{"Zones below each other, as deep as names go, with records at the bottom", 600, func(w *World, n int) {
			name := "org."
			for i := range 120 {
				w.PutZone(zoneOf("evil", fmt.Sprint(i), name, int64(1+i)))
				name = "a." + name
			}
			for i := range n {
				w.PutClaim(claimOf(fmt.Sprint("evil/", i), fmt.Sprintf("h%d.%s", i, strings.TrimPrefix(name, "a.")), 500,
					"A 192.0.2.1"))
			}
			w.Settle()
			w.PutZone(zoneOf("evil", "0", "org.", 700)) // younger: every chain of delegations changes
			w.Settle()
		}},
		{"a crowd at somebody's name, one by one", 8, func(w *World, n int) {
			w.PutZone(zoneOf("dns", "example", "example.org.", 1))
			w.PutClaim(claimOf("victim/www", "www.example.org.", 2, "A 192.0.2.1"))
			for i := range n {
				w.PutClaim(claimOf(fmt.Sprint("evil/", i), "www.example.org.", int64(3+i/50), "A 192.0.2.1"))
				w.Settle()
			}
			for i := range n {
				w.DeleteClaim(ID{KindRecord, "evil", fmt.Sprint(i)})
				w.Settle()
			}
		}},
		{"a crowd in one set, one by one", 8, func(w *World, n int) {
			w.PutZone(zoneOf("dns", "example", "example.org.", 1))
			for i := range n {
				w.PutClaim(claimOf(fmt.Sprint("evil/", i), "www.example.org.", int64(3+i/50), fmt.Sprintf("NS ns%d.", i)))
				w.Settle()
			}
		}},
		{"a crowd of types at one name, one by one", 8, func(w *World, n int) {
			w.PutZone(zoneOf("dns", "example", "example.org.", 1))
			for i := range n {
				w.PutClaim(claimOf(fmt.Sprint("evil/", i), "www.example.org.", int64(3+i/50), fmt.Sprintf(`TYPE%d \# 0`, 1000+i)))
				w.Settle()
			}
		}},
		{"names of one address, one by one", 20, func(w *World, n int) {
			reverse := zoneOf("dns", "reverse", "2.0.192.in-addr.arpa.", 1)
			reverse.Reverse = &Reverse{Namespaces: []string{"victim", "other"}}
			w.PutZone(reverse)
			w.PutZone(zoneOf("dns", "example", "example.org.", 1))
			for i := range n {
				namespace := []string{"evil", "other", fmt.Sprint("evil", i)}[i%3]
				w.PutClaim(claimOf(fmt.Sprint(namespace, "/", i), fmt.Sprintf("h%d.example.org.", i), int64(3+i/50), "A 192.0.2.1"))
				w.Settle()
			}
			for i := range n {
				w.DeleteClaim(ID{KindRecord, []string{"evil", "other", fmt.Sprint("evil", i)}[i%3], fmt.Sprint(i)})
				w.Settle()
			}
		}},
		{"blocks of addresses, one by one", 900, func(w *World, n int) {
			w.PutZone(zoneOf("dns", "reverse", "192.in-addr.arpa.", 1))
			for i := range n {
				z := zoneOf("evil", fmt.Sprint(i), fmt.Sprintf("0-25.%d.%d.192.in-addr.arpa.", i%256, i/256), 5)
				z.Reverse = &Reverse{}
				w.PutZone(z)
				w.Settle()
			}
		}},
		{"a refused Zone above everything that changes its rules", 8, func(w *World, n int) {
			w.PutGrants("main", []Grant{{[]string{"dns"}, patterns("*")}})
			w.PutZone(zoneOf("dns", "example", "example.org.", 1))
			for _, c := range addressClaims("example.org.", 300) {
				w.PutClaim(c)
			}
			for i := range n {
				z := zoneOf("evil", "root", ".", 9)
				z.Rules = append(z.Rules, Rule{Zones: patterns(fmt.Sprint("a", i))})
				w.PutZone(z)
				w.Settle()
			}
		}},
		{"an accepted Zone above everything that changes its rules", 8, func(w *World, n int) {
			w.PutZone(zoneOf("dns", "example", "example.org.", 1))
			for _, c := range addressClaims("example.org.", 300) {
				w.PutClaim(c)
			}
			for i := range n {
				z := zoneOf("evil", "root", ".", 9)
				z.Rules = []Rule{{Records: []RecordRule{{Pattern: patterns(fmt.Sprint("a", i))[0]}}}}
				w.PutZone(z)
				w.Settle()
			}
		}},
	} {
		t.Run(d.name, func(t *testing.T) {
			var few, many = New(Options{}), New(Options{})
			d.do(few, 500)
			d.do(many, 2_000)
			if most := 1_500 * d.most; many.visits-few.visits > most {
				t.Errorf("1,500 objects more make the World look at %d things more, not at most %d", many.visits-few.visits, most)
			}
		})
	}
}

// chain puts n Zones that refer to each other one after the other, from "0" on, which
// refers to first, or has a full name when first is empty.
func chain(w *World, n int, first string) {
	for i := range n {
		z := zoneOf("evil", fmt.Sprint(i), "example.org.", 2)
		if i > 0 || first != "" {
			ref := first
			if i > 0 {
				ref = fmt.Sprint(i - 1)
			}
			z.Where = Where{Relative: must(dnsname.ParseRelative("a")), Ref: ID{KindZone, "evil", ref}}
		}
		w.PutZone(z)
	}
	w.Settle()
}

// TestManyAtOneName is about names and sets that many ask for. Each of them is looked at
// when the name changes, but little is done for it.
func TestManyAtOneName(t *testing.T) {
	const n = 1_000
	w := New(Options{})
	w.PutZone(zoneOf("dns", "example", "example.org.", 1))
	for i := range n {
		w.PutZone(zoneOf("evil", fmt.Sprint(i), "example.org.", 9))
		w.PutClaim(claimOf(fmt.Sprint("evil/victim", i), "victim.example.org.", 9, fmt.Sprintf("A 192.0.2.%d", i%256)))
		w.PutClaim(claimOf(fmt.Sprint("evil/own", i), "own.example.org.", 9, fmt.Sprintf(`TXT "%d"`, i)))
	}
	w.PutClaim(claimOf("victim/first", "victim.example.org.", 2, "A 192.0.2.1"))
	w.Settle()
	for name, change := range map[string]func(i int){
		"the victim's record": func(i int) {
			w.PutClaim(claimOf("victim/first", "victim.example.org.", 2, fmt.Sprintf("A 192.0.2.%d", i%2)))
		},
		"one of the full set": func(i int) {
			w.PutClaim(claimOf("evil/own7", "own.example.org.", 9, fmt.Sprintf(`TXT "seven %d"`, i%2)))
		},
		"a Zone of the same name": func(i int) { w.PutZone(zoneOf("evil", "7", "example.org.", int64(9+i%2))) },
	} {
		i := 0
		allocs := testing.AllocsPerRun(10, func() {
			change(i)
			w.Settle()
			i++
		})
		if allocs > n/2 {
			t.Errorf("changing %s among %d allocates %.0f times", name, n, allocs)
		}
	}
}

// A crowd at a name that others have changes nothing there, and costs no more by having its types listed.
func TestManyWithListedTypesAtOneName(t *testing.T) {
	const n = 1_000
	w := New(Options{})
	z := zoneOf("dns", "example", "example.org.", 1)
	z.Rules = append(z.Rules, Rule{
		Records: []RecordRule{{Pattern: patterns("*")[0], Types: []rr.Type{rr.TypeA, rr.TypeTXT}}}})
	w.PutZone(z)
	crowds := map[string]string{"held": "A 192.0.2.9", "alias": `TXT "no"`, "cut": "A 192.0.2.9"}
	for i := range n {
		for name, record := range crowds {
			w.PutClaim(claimOf(fmt.Sprint("evil/", name, i), name+".example.org.", 9, record))
		}
	}
	w.PutClaim(claimOf("victim/address", "held.example.org.", 2, "A 192.0.2.1"))
	w.PutClaim(claimOf("victim/alias", "alias.example.org.", 2, "CNAME example.net."))
	w.PutClaim(claimOf("victim/cut", "cut.example.org.", 2, "NS ns.example.net."))
	w.Settle()
	for name, record := range crowds {
		before := w.visits
		w.PutClaim(claimOf(fmt.Sprint("evil/", name, 7), name+".example.org.", 10, record))
		w.Settle()
		if visits := w.visits - before; visits > 10 {
			t.Errorf("changing one of %d at %s visits %d", n, name, visits)
		}
		if v, _ := w.Verdict(ID{KindRecord, "evil", name + "7"}); v.Accepted {
			t.Errorf("one of the crowd at %s is accepted", name)
		}
	}
}

func TestNamesHaveAtMost100Types(t *testing.T) {
	w := New(Options{})
	w.PutZone(zoneOf("dns", "example", "example.org.", 1))
	for i := range 101 {
		w.PutClaim(claimOf(fmt.Sprint("dns/", i), "full.example.org.", int64(200-i), fmt.Sprintf(`TYPE%d \# 0`, 1000+i)))
	}
	w.Settle()
	if v, _ := w.Verdict(ID{KindRecord, "dns", "0"}); v.Reason != SetFull {
		t.Errorf("the youngest of 101 types is %s", v.Reason)
	}
	w.PutClaim(claimOf("dns/again", "full.example.org.", 300, `TYPE1050 \# 1 00`))
	w.PutClaim(claimOf("dns/more", "full.example.org.", 300, "A 192.0.2.1"))
	w.DeleteClaim(ID{KindRecord, "dns", "100"})
	w.Settle()
	for name, want := range map[string]Reason{"0": Accepted, "again": Accepted, "more": SetFull} {
		if v, _ := w.Verdict(ID{KindRecord, "dns", name}); v.Reason != want {
			t.Errorf("when the oldest goes, %s is %s, not %s", name, v.Reason, want)
		}
	}
}

func TestLongNamesCostNoMoreThanShortOnes(t *testing.T) {
	const n = 200
	w := New(Options{})
	w.PutZone(zoneOf("dns", "example", "example.org.", 1))
	for i := range n {
		w.PutClaim(claimOf(fmt.Sprint("evil/", i), strings.Repeat("a.", 110)+fmt.Sprintf("h%d.example.org.", i), 9,
			"A 192.0.2.1"))
		w.PutClaim(claimOf(fmt.Sprint("evil/", i, "x"), strings.Repeat("b.", 60)+strings.Repeat("a.", 50)+fmt.Sprintf(
			"h%d.example.org.", i), 9, "A 192.0.2.1"))
	}
	w.Settle()
	nodes := map[*node]bool{}
	for _, n := range w.tree.nodes {
		nodes[n] = true
	}
	if len(nodes) > 3*n+2 {
		t.Errorf("%d names of 114 labels, which part at the 53rd, have %d nodes", 2*n, len(nodes))
	}
	for i := range n {
		w.DeleteClaim(ID{KindRecord, "evil", fmt.Sprint(i)})
		w.DeleteClaim(ID{KindRecord, "evil", fmt.Sprint(i, "x")})
	}
	w.Settle()
	if len(w.tree.nodes) > 3 { // the root, the Zone, and the gate between
		t.Errorf("%d names are left over", len(w.tree.nodes))
	}
}

func TestChainsOf300Labels(t *testing.T) {
	w := New(Options{})
	chain(w, 300, "")
	reasons := map[Reason]int{}
	for i := range 300 {
		v, ok := w.Verdict(ID{KindZone, "evil", fmt.Sprint(i)})
		if !ok {
			t.Fatalf("the Zone %d has no verdict", i)
		}
		reasons[v.Reason]++
	}
	// "example.org." has 13 octets, and every "a." two more, up to 255.
	want := map[Reason]int{Accepted: 1 + (255-13)/2, InvalidName: 1, ParentUnresolved: 300 - 2 - (255-13)/2}
	for reason, n := range want {
		if reasons[reason] != n {
			t.Errorf("%d Zones are %s, not %d: %v", reasons[reason], reason, n, reasons)
		}
	}
	chain(w, 300, "299")
	for i := range 300 {
		if v, _ := w.Verdict(ID{KindZone, "evil", fmt.Sprint(i)}); v.Reason != ReferenceCycle {
			t.Fatalf("the Zone %d of a cycle is %s", i, v.Reason)
		}
	}
	if len(w.tree.nodes) > 1 {
		t.Errorf("%d names are left over beside the root", len(w.tree.nodes)-1)
	}
}
