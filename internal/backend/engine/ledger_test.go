package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/rr"
)

// Where foreign sets are kept, zonefold's name servers at the apex stand beside the server's own, and only the ledger
// tells them apart: it has to know every value before it is published.
func TestEveryNameServerIsInTheLedgerBeforeItIsPublished(t *testing.T) {
	for _, c := range []struct {
		name  string
		lives [][]string // what is published, one after the other, before each crash
		want  string
	}{
		{"a value that was replaced goes", [][]string{{"a", "b"}}, "b server"},
		{"a value that replaced another before a crash goes when it is replaced", [][]string{{"a", "b"}, {"c"}}, "c server"},
		{"a value that joined another before a crash goes", [][]string{{"a", "a b"}, {"a"}}, "a server"},
		{"a value that replaced another long before a crash goes", [][]string{{"a", "b"}, {"b"}, {"b", "c"}, {"d"}},
			"d server"},
		{"all values go with the set", [][]string{{"a", "b"}, {""}}, "server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := serverWith(bindLike, zoneName)
				store := &backendtest.Store{}
				for _, life := range c.lives {
					b := newBench(t, func(c *engine.Config) { c.Ceilings, c.Ledger = store, store })
					config, written := store.Restart(engine.FeedConfig{ID: zoneName, Zone: mustParse(zoneName)})
					f := b.engine.NewFeed(config)
					for i, hosts := range life {
						content := nameServers(hosts)
						store.Wanted(zoneName, content)
						f.Publish(content, []rr.Key{apexNS})
						if i == 0 {
							b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: s, Keep: true,
								Written: written})
						}
						b.pass(time.Minute)
						if r := b.last("0"); r.Err != nil || len(r.Refused) > 0 {
							t.Fatalf("after %q: %+v", hosts, r)
						}
					}
					b.stop() // nobody noted what was confirmed
				}
				_, sets, _ := m.Truth(mustParse(zoneName))
				ns, _ := sets.Get(apexNS)
				if got := strings.ReplaceAll(strings.Join(ns.Data, " "), ".example.net.", ""); got != c.want {
					t.Errorf("the server has the name servers %q, want %q", got, c.want)
				}
			})
		})
	}
}

var apexNS = rr.Key{Name: mustParse(zoneName), Type: rr.TypeNS}

// nameServers is a content with hosts of example.net. as name servers.
func nameServers(hosts string) engine.Content {
	sets := []rr.Set{set("www.example.org.", rr.TypeA, 300, "192.0.2.1")}
	var data []string
	for _, host := range strings.Fields(hosts) {
		data = append(data, host+".example.net.")
	}
	if data != nil {
		sets = append(sets, set(zoneName, rr.TypeNS, 300, data...))
	}
	return contentOf(mustParse(zoneName), sets...)
}
