package backendtest

import (
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/rr"
)

// check compares what the server holds with what it should, apart from what was refused.
func (r *rig) check(want rr.Sets, report engine.Report) {
	r.Helper()
	soa, truth, ok := r.Truth(r.zone)
	if !ok {
		r.Fatalf("the server has no zone %s", r.zone)
	}
	for w := range want.All() {
		if _, refused := report.Refused[w.Key()]; refused || r.isServersNS(w.Key()) {
			continue
		}
		if got, _ := truth.Get(w.Key()); !got.Equal(w) {
			r.Errorf("the server holds %v, want %v", got, w)
		}
	}
	for got := range truth.All() {
		_, wanted := want.Get(got.Key())
		_, refused := report.Refused[got.Key()]
		mine := r.ever[got.Key()] || r.limits.Read == backend.ReadZone && !r.attach.Keep
		if !wanted && !refused && mine && !r.isApexNS(got.Key()) && !r.needed(truth, got.Key()) {
			r.Errorf("the server still holds %v", got)
		}
	}
	if r.limits.SOA == backend.SOAClient {
		r.checkSOA(soa, report)
	}
}

func (r *rig) checkSOA(soa rr.SOA, report engine.Report) {
	r.Helper()
	if soa.Serial != report.Serial {
		r.Errorf("the server has serial %d, the report says %d", soa.Serial, report.Serial)
	}
	want := r.soa()
	want.Serial = soa.Serial
	if soa != want {
		r.Errorf("the server's SOA is %s (TTL %d), want %s (TTL %d)", soa.Data(), soa.TTL, want.Data(), want.TTL)
	}
}

// needed reports whether a key is of an address that the server's apex NS need.
func (r *rig) needed(truth rr.Sets, k rr.Key) bool {
	ns, _ := truth.Get(rr.Key{Name: r.zone, Type: rr.TypeNS})
	return (k.Type == rr.TypeA || k.Type == rr.TypeAAAA) && slices.Contains(ns.Data, k.Name.String())
}

func (r *rig) isApexNS(k rr.Key) bool { return k == rr.Key{Name: r.zone, Type: rr.TypeNS} }

// isServersNS reports whether the key is of apex NS that the server does not give away.
func (r *rig) isServersNS(k rr.Key) bool {
	return r.isApexNS(k) && (r.attach.Keep || r.limits.ApexNS == backend.ApexNSServer)
}
