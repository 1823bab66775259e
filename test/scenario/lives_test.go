package scenario

import (
	"fmt"
	"net/http"
	"time"
)

// life plays what happens to a zone and a sub-zone from their creation to their end.
func (k kind) life(s *scene) {
	at := k.start(s, k.existing("example.org.", "sub.example.org.")...)
	s.bind = at.Server
	k.connect(s, "b", at, "foreign: Delete")
	s.apply(`
		zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: ` + anything + `}
		zone b/sub: {domainName: sub, zoneRef: {name: org, namespace: ~a}, backendRefs: [{name: ~b}], delegations: ` + anything + `}
		record a/ns: {domainName: example.org., type: NS, rdata: ns.example.org.}
		record a/ns-a: {domainName: ns.example.org., type: A, rdata: 192.0.2.53}
		record a/mx: {domainName: example.org., type: MX, rdata: 10 mail.example.org.}
		record a/mail: {domainName: mail.example.org., type: AAAA, rdata: "2001:db8::25"}
		record a/txt: {domainName: example.org., type: TXT, rdata: '"v=spf1 mx" " -all"'}
		record a/caa: {domainName: example.org., type: CAA, rdata: 0 issue "ca.example.net"}
		record a/srv: {domainName: _sip._tcp.example.org., type: SRV, rdata: 1 2 5060 mail.example.org.}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		record a/www2: {domainName: www.example.org., type: A, rdata: 192.0.2.2}
		record a/alias: {domainName: alias.example.org., type: CNAME, rdata: www.example.org.}
		record a/bad: {domainName: bad.example.org., type: A, rdata: 192.0.2.300}
		record b/ns: {domainName: sub.example.org., type: NS, rdata: ns.sub.example.org.}
		record b/ns-a: {domainName: ns.sub.example.org., type: A, rdata: 192.0.2.54}
		record b/any: {domainName: "*.sub.example.org.", type: A, rdata: 192.0.2.3}
	`)
	s.ready("backend b", "zone a/org", "zone b/sub", "record a/mx", "record a/srv", "record a/caa", "record a/www2",
		"record b/any")
	s.refused("record a/bad", "InvalidData")
	s.answers("example.org. MX", "10 mail.example.org.")
	s.answers("mail.example.org. AAAA", "2001:db8::25")
	s.answers("example.org. TXT", `"v=spf1 mx" " -all"`)
	s.answers("example.org. CAA", `0 issue "ca.example.net"`)
	s.answers("_sip._tcp.example.org. SRV", "1 2 5060 mail.example.org.")
	s.answers("www.example.org. A", "192.0.2.1", "192.0.2.2")
	s.answers("alias.example.org. CNAME", "www.example.org.")
	s.answers("bad.example.org. A")
	s.answers("sub.example.org. NS", "ns.sub.example.org.")
	s.answers("whatever.sub.example.org. A", "192.0.2.3")
	s.agree("a/org")
	s.agree("b/sub")

	serial := s.serial(at.Server, "example.org.")
	s.apply(`
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.4, ttl: 77}
		record a/alias: {domainName: alias.example.org., type: A, rdata: 192.0.2.5}
		record a/bad: {domainName: bad.example.org., type: A, rdata: 192.0.2.30}
	`)
	s.remove("record a/www2", "record a/caa")
	s.answers("www.example.org. A", "192.0.2.4")
	s.answers("alias.example.org. CNAME")
	s.answers("alias.example.org. A", "192.0.2.5")
	s.answers("bad.example.org. A", "192.0.2.30")
	s.answers("example.org. CAA")
	s.ready("zone a/org", "record a/www", "record a/alias", "record a/bad")
	s.agree("a/org")
	if now := s.serial(at.Server, "example.org."); now <= serial {
		s.t.Errorf("the serial went from %d to %d", serial, now)
	}

	s.remove("zone b/sub", "zone a/org")
	s.gone("zone b/sub")
	s.gone("zone a/org")
	for _, question := range []string{"www.example.org. A", "example.org. MX", "mail.example.org. AAAA",
		"whatever.sub.example.org. A"} {
		s.answers(question)
	}
	s.refused("record a/www", "NoZone")
}

// existing are zones that have to be there before the operator comes.
func (k kind) existing(zones ...string) []string {
	if k.creates {
		return nil
	}
	return zones
}

// restart plays a server that ends in order, and one that crashes.
func (k kind) restart(s *scene) {
	at := k.start(s, k.existing("example.org.")...)
	s.bind = at.Server
	k.connect(s, "b", at, "")
	s.apply(www("b"))
	s.ready("zone a/org", "record a/www")
	serial := s.serial(at.Server, "example.org.")
	if err := at.Restart(s.ctx); err != nil {
		s.t.Fatal(err)
	}
	s.answers("www.example.org. A", "192.0.2.1")
	if now := s.serial(at.Server, "example.org."); now != serial {
		s.t.Errorf("the serial went from %d to %d although nothing changed", serial, now)
	}
	s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
	s.answers("www.example.org. A", "192.0.2.2")
	s.ready("zone a/org", "record a/www", "backend b")

	at.Kill()
	s.apply(`
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.3}
		record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.4}
	`)
	s.cond("zone a/org", "Served", "False Unavailable", "~b")
	s.cond("record a/www", "Served", "False Unavailable")
	s.cond("backend b", "Ready", "False Unavailable")
	s.remove("record a/new")
	if err := at.Start(s.ctx); err != nil {
		s.t.Fatal(err)
	}
	s.answers("www.example.org. A", "192.0.2.3")
	s.answers("new.example.org. A")
	s.ready("zone a/org", "record a/www", "backend b")
	s.agreeForeign()
}

// passwords plays a Secret that is wrong at first, and one that becomes wrong later.
func (k kind) passwords(s *scene) {
	at := k.start(s, k.existing("example.org.")...)
	s.bind = at.Server
	k.connect(s, "b", at, "")
	k.tell(s, k.wrong)
	s.apply(www("b"))
	for _, data := range []string{"192.0.2.1", "192.0.2.2"} {
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: ` + data + `}`)
		s.cond("zone a/org", "Served", "False NotAuthorised", "~b")
		s.cond("record a/www", "Served", "False NotAuthorised")
		s.cond("backend b", "Ready", "False NotAuthorised")
		began := time.Now()
		k.tell(s, k.password)
		s.ready("backend b", "zone a/org", "record a/www")
		s.answers("www.example.org. A", data)
		// Without an event it is tried again after 30 seconds, spread by a quarter.
		if took := time.Since(began); took > 15*time.Second {
			s.t.Errorf("it took %s to take up the right password", took)
		}
		k.tell(s, k.wrong)
		s.answers("www.example.org. A", data) // what is served stays
		probe := 0
		s.eventually("the operator has heard of the wrong password", func() string {
			// a change before that is still delivered
			probe++
			s.apply(fmt.Sprintf("record a/probe: {domainName: probe.example.org., type: A, rdata: 192.0.2.%d}", probe%200+1))
			return s.hasCond("zone a/org", "Served", "False NotAuthorised", "~b")
		})
	}
}

// deleteZone deletes a zone in PowerDNS as somebody else.
func (s *scene) deleteZone(at place, zone string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.ctx, http.MethodDelete, at.url+"/api/v1/servers/localhost/zones/"+
		s.text(zone), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-API-Key", powerDNSKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		s.t.Fatalf("PowerDNS answers %s", resp.Status)
	}
}

// everywhere plays one zone at several servers, one of which is away for a while.
func everywhere(s *scene, kinds ...kind) {
	var places []place
	names := make([]string, 0, len(kinds))
	for _, k := range kinds {
		at := k.start(s, k.existing("example.org.")...)
		k.connect(s, k.name, at, "")
		places, names = append(places, at), append(names, k.name)
	}
	everybody := func(data string) {
		s.t.Helper()
		for _, at := range places {
			s.answersAt(at.Server, "www.example.org. A", data)
		}
		s.ready("zone a/org", "record a/www")
		s.eventually("the serials", func() string {
			var serials []uint32
			for _, at := range places {
				serials = append(serials, s.serial(at.Server, "example.org."))
			}
			for _, serial := range serials {
				if serial != serials[0] || int64(serial) != int64(*s.zone("a/org").Status.Serial) {
					return fmt.Sprintf("they are %v, and %d in the status", serials, *s.zone("a/org").Status.Serial)
				}
			}
			return ""
		})
	}
	s.apply(www(names...))
	everybody("192.0.2.1")
	for i, away := range places {
		away.Kill()
		data := fmt.Sprintf("192.0.2.%d", 10+i)
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: ` + data + `}`)
		for j, at := range places {
			if j != i {
				s.answersAt(at.Server, "www.example.org. A", data)
			}
		}
		s.cond("zone a/org", "Served", "False Unavailable", "~"+names[i])
		if err := away.Start(s.ctx); err != nil {
			s.t.Fatal(err)
		}
		everybody(data)
	}
}
