package main

// A box is one thing of a column: what it is called, and what to know of it.
type box struct{ Name, Note string }

// A column is a list of boxes under a title.
type column struct {
	Title string
	Boxes []box
}

// A picture is columns with a word on the way from each to the next.
type picture struct {
	file     string
	says     string // for those who do not see it
	boxWidth int
	columns  []column
	words    []string
}

func pictures() []picture { return []picture{overview(), delegation(), change()} }

// overview is the picture of the README.
func overview() picture {
	return picture{"zonefold.svg", "objects become zones, zones go to servers", 250, []column{
		{"objects", []box{
			{"Zone, Record", "kubi.zone"},
			{"DNSZone, ARecord …", "bindy.firestoned.io"},
			{"DNSClass, DNSRecord", "dns.homelab.mortenolsen.pro"},
			{"DNSRecord", "extensions.gardener.cloud"},
			{"files of a folder", "zonefold check, render, serve"},
		}},
		{"zones", []box{
			{"claims", "each asks for one record at one name"},
			{"rules", "delegations say who may have what"},
			{"sets", "merged; each refusal has its reason"},
			{"content", "a snapshot with a serial"},
			{"changes", "what a server lacks, confirmed"},
		}},
		{"servers", []box{
			{"zonefold itself", "and secondaries that follow it"},
			{"BIND fleets", "in Pods that it runs"},
			{"RFC 2136, PowerDNS", "servers that are there already"},
			{"signed webhooks", "of a DNSClass, of external-dns"},
			{"cloud services", "Route 53, Cloudflare, Google Cloud DNS"},
		}},
	}, []string{"fold", "deliver"}}
}

// delegation shows claims to names of example.org., one in a row, with what becomes of each.
func delegation() picture {
	return picture{"delegation.svg",
		"four claims to names of example.org., the rule that each meets, and what comes of it", 250, []column{
			{"who asks", []box{
				{"www.shop.example.org. A", "Record of namespace shop"},
				{"www.shop.example.org. A", "Record of namespace blog, a day later"},
				{"www.example.org. A", "Record of namespace shop"},
				{"team-a.example.org.", "Zone of namespace team-a"},
			}},
			{"rules of example.org.", []box{
				{`records: "*.shop"`, "for namespaces shop and blog"},
				{`records: "*.shop"`, "the same rule; the name is taken"},
				{"none", "of namespace shop for that name"},
				{`zones: "team-a"`, "for namespace team-a"},
			}},
			{"what comes of it", []box{
				{"accepted, then served", "the name is shop's"},
				{"NameHeld", "the oldest claim has the name"},
				{"NotDelegated", "the message has the missing rule"},
				{"a zone with rules of its own", "its NS records come into example.org."},
			}},
		}, []string{"ask", "decide"}}
}

// change shows the way of a change and back.
func change() picture {
	return picture{"change.svg",
		"an object changes, rules are asked, a set changes, servers confirm it, the status says so", 180, []column{
			{"object", []box{{"a Record changes", "a watch event"}}},
			{"rules", []box{{"one name is judged", "no other is looked at"}}},
			{"zone", []box{{"one set changes", "a new serial"}}},
			{"server", []box{{"one message", "confirmed by its answer"}}},
			{"status", []box{{"Served, Ready", "written after the fact"}}},
		}, []string{"", "", "", ""}}
}
