package scenario

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// samples returns all samples of the operator's own metrics.
func (s *scene) samples() map[string]float64 {
	s.t.Helper()
	m, err := s.op.Metrics("zonefold_")
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// moves waits until something that happens has increased samples.
func (s *scene) moves(sentence string, happens func(), names ...string) {
	s.t.Helper()
	s.step(sentence, func() {
		before := s.samples()
		happens()
		for _, n := range names {
			s.eventually("zonefold_"+n, func() string {
				if now := s.samples()["zonefold_"+n]; now <= before["zonefold_"+n] {
					return fmt.Sprintf("it is %v and was %v", now, before["zonefold_"+n])
				}
				return ""
			})
		}
	})
}

// counts waits until a gauge has a value.
func (s *scene) counts(sample string, want float64) {
	s.t.Helper()
	s.eventually(sample, func() string {
		if got := s.samples()["zonefold_"+sample]; got != want {
			return fmt.Sprintf("it is %v, not %v", got, want)
		}
		return ""
	})
}

func TestMetricsMove(t *testing.T) {
	s := newStage(t)
	t.Cleanup(s.keepsSecrets)
	s.bind = s.startBIND("example.org.", "big.example.net.")
	s.backend("b", "", s.bind)
	own := s.ownServer("--max-status-entries=5", "--leader-elect=true", "--verbose")
	prometheus := s.scraped()
	own = nameserver.At(netip.MustParseAddrPort(own.Addr()).Port()) // who asks has no key
	s.eventually("metrics", func() string {
		if _, err := s.op.Metrics("zonefold_"); err != nil {
			return err.Error()
		}
		return ""
	})
	s.work()
	s.judgements()
	s.failures()
	s.withoutCeiling()
	s.throttled()
	s.held()
	s.leavesBehind()
	s.answering(own)
	s.documented()
	s.dashboardsShow(prometheus)
	s.op.Stop() // and its Lease is nobody's
}

// held plays a Zone that loses more than its Backend allows.
func (s *scene) held() {
	s.t.Helper()
	bind := s.startBIND("held.example.")
	s.backend("brake", "protection: {maxDeletedPercent: 0, minDeleted: 0}", bind)
	s.apply(`zone a/held: {domainName: held.example., backendRefs: [{name: ~brake}], delegations: ` + anything + `}
		record a/held: {domainName: www.held.example., type: A, rdata: 192.0.2.7}`)
	s.ready("zone a/held", "record a/held")
	held := `held_sets{backend="rfc2136"}`
	s.moves("a set is to be deleted, and none may", func() { s.remove("record a/held") }, held)
	s.step("the Backend has no protection any more", func() {
		s.backend("brake", "", bind)
		s.counts(held, 0)
	})
}

// leavesBehind plays a Zone that is deleted while its server is down.
func (s *scene) leavesBehind() {
	s.t.Helper()
	bind := s.startBIND("left.example.")
	s.backend("dead", "leaveBehindAfter: 1s", bind)
	s.apply(`zone a/left: {domainName: left.example., backendRefs: [{name: ~dead}], delegations: ` + anything + `}
		record a/left: {domainName: www.left.example., type: A, rdata: 192.0.2.7}`)
	s.ready("zone a/left", "record a/left")
	left := `left_behind_zones{backend="rfc2136"}`
	s.moves("a Zone goes although its server is down", func() {
		bind.Kill()
		s.remove("zone a/left")
	}, left)
	s.step("the server is back", func() {
		if err := bind.Start(s.ctx); err != nil {
			s.t.Fatal(err)
		}
		s.counts(left, 0)
	})
}

// answering plays what the operator's own name server does.
func (s *scene) answering(own *nameserver.Server) {
	s.t.Helper()
	s.apply(fmt.Sprintf(`backend own: {embedded: {notify: [{address: %q}]}}
		zone a/own: {domainName: own.example., delegations: `+anything+`, backendRefs: [{name: ~own}]}`, s.bind.Addr()))
	s.ready("zone a/own")
	s.moves("somebody asks", func() { s.answersAt(own, "own.example. A") },
		`dns_answers_total{rcode="NOERROR",transport="tcp"}`)
	s.moves("somebody may not copy a zone", func() {
		if _, err := own.Transfer(s.ctx, name(s.text("own.example."))); err == nil {
			s.t.Error("the zone is given to anybody")
		}
	}, `dns_transfers_total{kind="axfr",outcome="refused"}`)
	s.moves("a server that does not follow the zone is told of a change", func() {
		s.apply(`record a/own: {domainName: www.own.example., type: A, rdata: 192.0.2.9}`)
	}, `dns_notifies_total{outcome="refused"}`)
}

// work plays what goes well.
func (s *scene) work() {
	s.t.Helper()
	s.moves("a Zone and a Record are served", func() {
		s.apply(www("b"))
		s.ready("zone a/org", "record a/www", "backend b")
	}, "changes_total", "settle_seconds_count", "change_to_served_seconds_count",
		`backend_apply_seconds_count{backend="rfc2136"}`, `backend_changed_sets_total{backend="rfc2136"}`,
		`backend_read_seconds_count{backend="rfc2136"}`,
		`api_writes_total{kind="Zone",what="metadata"}`, `api_writes_total{kind="Zone",what="status"}`,
		`api_writes_total{kind="Record",what="metadata"}`, `api_writes_total{kind="Record",what="status"}`,
		`api_writes_total{kind="Backend",what="status"}`)

	s.step("one change counts once", func() {
		before := s.samples()
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.answers("www.example.org. A", "192.0.2.2")
		s.ready("record a/www")
		after := s.samples()
		for _, n := range []string{"changes_total", "change_to_served_seconds_count",
			`backend_apply_seconds_count{backend="rfc2136"}`, `backend_changed_sets_total{backend="rfc2136"}`} {
			if grown := after["zonefold_"+n] - before["zonefold_"+n]; grown != 1 {
				s.t.Errorf("%s has grown by %v", n, grown)
			}
		}
		if took := after["zonefold_change_to_served_seconds_sum"] - before["zonefold_change_to_served_seconds_sum"]; took <=
			0 || took > 10 {
			s.t.Errorf("the change took %v seconds to be served", took)
		}
	})

	s.moves("a zone has more entries than its status", func() {
		for i := range 8 {
			s.apply(fmt.Sprintf("record a/r%d: {domainName: r%d.example.org., type: A, rdata: 192.0.2.9}", i, i))
		}
		s.cond("zone a/org", "Sliced", "True InSlices")
	}, `api_writes_total{kind="ZoneSlice",what="content"}`)
	s.moves("and fewer again", func() {
		for i := range 8 {
			s.remove(fmt.Sprintf("record a/r%d", i))
		}
	}, `api_writes_total{kind="ZoneSlice",what="delete"}`)
}

// judgements plays objects that are refused, corrected and deleted.
func (s *scene) judgements() {
	s.t.Helper()
	s.step("objects are counted by their reasons", func() {
		s.counts(`objects{kind="Zone",reason="Accepted"}`, 1)
		s.counts(`objects{kind="Record",reason="Accepted"}`, 1)
		s.apply(`record a/bad: {domainName: www.example.org., type: A, rdata: not an address}`)
		s.apply(`record a/orphan: {domainName: www.example.com., type: A, rdata: 192.0.2.1}`)
		s.counts(`objects{kind="Record",reason="InvalidData"}`, 1)
		s.counts(`objects{kind="Record",reason="NoZone"}`, 1)
		s.apply(`record a/bad: {domainName: bad.example.org., type: A, rdata: 192.0.2.1}`)
		s.counts(`objects{kind="Record",reason="InvalidData"}`, 0)
		s.counts(`objects{kind="Record",reason="Accepted"}`, 2)
		s.remove("record a/bad", "record a/orphan")
		s.counts(`objects{kind="Record",reason="NoZone"}`, 0)
		s.counts(`objects{kind="Record",reason="Accepted"}`, 1)
	})
}

// failures plays the troubles that a real server makes.
func (s *scene) failures() {
	s.t.Helper()
	failed := func(class string) string {
		return fmt.Sprintf(`backend_errors_total{backend="rfc2136",class=%q}`, class)
	}
	s.moves("a server refuses a set", func() {
		s.apply(`record a/under: {domainName: _under.example.org., type: A, rdata: 192.0.2.1}`)
	}, `backend_refused_sets_total{backend="rfc2136"}`, failed("rejected"))
	s.remove("record a/under")
	s.moves("somebody else writes in between", func() {
		s.update(s.bind, "example.org.", "add foreign.example.org. 60 A 192.0.2.7")
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.3}`)
		s.answers("www.example.org. A", "192.0.2.3")
	}, failed("conflict"))
	s.moves("a server lacks a zone", func() {
		s.apply(`zone a/net: {domainName: example.net., backendRefs: [{name: ~b}], delegations: ` + anything + `}`)
	}, failed("no zone"))
	s.remove("zone a/net")
	s.moves("a password is wrong", func() {
		s.secret(testoperator.Namespace, s.prefix+"tsig", "bm90IHRoaXMgb25lIGhlcmU=", nil)
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.4}`)
	}, failed("not authorised"))
	s.secret(testoperator.Namespace, s.prefix+"tsig", key.Secret, nil)
	s.answers("www.example.org. A", "192.0.2.4")
	s.moves("a server is away", func() {
		s.bind.Kill()
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.5}`)
	}, failed("unavailable"))
	if err := s.bind.Start(s.ctx); err != nil {
		s.t.Fatal(err)
	}
	s.answers("www.example.org. A", "192.0.2.5")
}

// throttled plays a PowerDNS behind a proxy that has had enough.
func (s *scene) throttled() {
	s.t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	s.t.Cleanup(proxy.Close)
	s.moves("an API asks to wait", func() {
		s.apply(fmt.Sprintf("backend slow: {powerdns: {url: %q, secretRef: {name: ~tsig}}}", proxy.URL))
		s.apply(`zone a/slow: {domainName: slow.example., backendRefs: [{name: ~slow}], delegations: []}`)
		s.cond("zone a/slow", "Served", "False Throttled")
	}, `backend_errors_total{backend="powerdns",class="throttled"}`, `backend_read_seconds_count{backend="powerdns"}`)
}

// withoutCeiling plays a cluster that does not let the operator store a ceiling.
func (s *scene) withoutCeiling() {
	s.t.Helper()
	s.moves("a ceiling cannot be stored", func() {
		s.bind.Kill()
		s.apply(`zone a/new: {domainName: big.example.net., backendRefs: [{name: ~b}], delegations: ` + anything + `}`)
		s.cond("zone a/new", "Served", "False Unavailable") // where it goes is written down by then
		s.revoke()
		if err := s.bind.Start(s.ctx); err != nil {
			s.t.Fatal(err)
		}
	}, `backend_errors_total{backend="ceiling",class="unavailable"}`)
	s.grant()
	s.ready("zone a/new")
}

// documented compares what there is after all this with what docs/metrics.md lists.
func (s *scene) documented() {
	s.t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		s.t.Fatal(err)
	}
	labels := map[string]string{}
	for _, row := range regexp.MustCompile(
		"(?m)^\\| `(zonefold_[a-z_0-9]+)` \\| [a-z]+ \\| (.*?) ?\\|").FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(row[1], "zonefold_dnshook_") || row[1] == "zonefold_dnsrecords" {
			continue // of a dialect that is off here; its own tests look at them
		}
		labels[row[1]] = strings.NewReplacer("`", "", " ", "").Replace(row[2])
	}
	if len(labels) < 10 {
		s.t.Fatalf("docs/metrics.md lists %v", labels)
	}
	seen := map[string]bool{}
	known :=
		regexp.MustCompile(
			`^(Zone|Record|Backend|ZoneSlice|embedded|rfc2136|powerdns|ceiling|metadata|status|content|delete|axfr|ixfr)$`)
	rcode := regexp.MustCompile(`^[A-Z]+$`)
	for sample := range s.samples() {
		n, got, values := parts(sample)
		seen[n] = true
		if want, ok := labels[n]; !ok || want != strings.Join(got, ",") {
			s.t.Errorf("%s is not documented with these labels, but with %q", sample, want)
		}
		for i, value := range values {
			word := strings.Trim(value, `"`)
			switch {
			case got[i] == "class" && strings.Contains(string(text), "`"+word+"`"):
			case got[i] == "reason" && regexp.MustCompile(`^[A-Z][A-Za-z]+$`).MatchString(word):
			case got[i] == "outcome" && strings.Contains(string(text), "`"+word+"`"):
			case got[i] == "transport" && (word == "udp" || word == "tcp"):
			case got[i] == "rcode" && rcode.MatchString(word):
			case (got[i] == "kind" || got[i] == "backend" || got[i] == "what") && known.MatchString(word):
			default:
				s.t.Errorf("%s: the label %s is not one of few values", sample, got[i])
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(labels)) {
		if !seen[n] {
			s.t.Errorf("%s is documented and does not exist", n)
		}
	}
}

// parts takes a sample apart: the metric, and its labels without the buckets'.
func parts(sample string) (metric string, labels, values []string) {
	metric, rest, _ := strings.Cut(strings.TrimSuffix(sample, "}"), "{")
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		metric = strings.TrimSuffix(metric, suffix)
	}
	for pair := range strings.SplitSeq(rest, ",") {
		if label, value, ok := strings.Cut(pair, "="); ok && label != "le" {
			labels, values = append(labels, label), append(values, value)
		}
	}
	return metric, labels, values
}
