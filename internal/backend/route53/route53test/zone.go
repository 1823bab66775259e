package route53test

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// zone is a hosted zone.
type zone struct {
	account *Account
	id      string
	name    string
	private bool
	sets    map[setKey]*Set
}

// setKey is a set's place in a zone's order.
type setKey struct{ order, kind, identifier string }

func keyOf(s *Set) setKey { return setKey{orderOf(s.Name), s.Type, s.SetIdentifier} }

func (k setKey) compare(o setKey) int {
	return cmp.Or(strings.Compare(k.order, o.order), strings.Compare(k.kind, o.kind),
		strings.Compare(k.identifier, o.identifier))
}

// orderOf is a name with its labels reversed.
func orderOf(name string) string {
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + "."
}

// AddZone adds a hosted zone, with the SOA and the name servers that the service gives to each, and returns its ID.
func (a *Account) AddZone(name string, private bool) string {
	s := a.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	z := &zone{account: a, id: fmt.Sprintf("Z%08dEXAMPLE%d", 99999999-s.serial, s.serial), name: spelled(name),
		private: private, sets: map[setKey]*Set{}}
	for _, set := range []*Set{
		{Name: z.name, Type: "NS", TTL: number(172800), Records: []string{"ns-1.awsdns-00.org.", "ns-2.awsdns-00.com.",
			"ns-3.awsdns-00.net.", "ns-4.awsdns-00.co.uk."}},
		{Name: z.name, Type: "SOA", TTL: number(900), Records: []string{
			"ns-1.awsdns-00.org. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400"}},
	} {
		z.sets[keyOf(set)] = set
	}
	s.zones[z.id] = z
	return z.id
}

// RemoveZone removes a zone.
func (s *Server) RemoveZone(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.zones, id)
}

// Sets is what a zone holds, in order; false when there is none.
func (s *Server) Sets(id string) ([]Set, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.zones[id]
	if z == nil {
		return nil, false
	}
	var sets []Set
	for _, key := range z.order() {
		sets = append(sets, *z.sets[key])
	}
	return sets, true
}

// Put puts a set into a zone as it is, and Drop takes one out, as if somebody else had done so.
func (s *Server) Put(id string, set Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set.Name = spelled(set.Name)
	s.zones[id].sets[keyOf(&set)] = &set
}

// Drop removes a set.
func (s *Server) Drop(id, name, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.zones[id].sets, setKey{orderOf(spelled(name)), kind, ""})
}

func number(n int64) *int64 { return &n }

func (z *zone) order() []setKey { return slices.SortedFunc(maps.Keys(z.sets), setKey.compare) }

func (z *zone) show() zoneXML {
	return zoneXML{ID: "/hostedzone/" + z.id, Name: z.name, CallerReference: "ref-" + z.id, PrivateZone: z.private,
		Count: int64(len(z.sets))}
}

// zonesOf are an account's zones in order of their IDs.
func (s *Server) zonesOf(a *Account) []*zone {
	var zones []*zone
	for _, id := range slices.Sorted(maps.Keys(s.zones)) {
		if s.zones[id].account == a {
			zones = append(zones, s.zones[id])
		}
	}
	return zones
}

// zone finds a zone of an account.
func (s *Server) zone(a *Account, id string) (*zone, error) {
	z := s.zones[id]
	switch {
	case z == nil:
		return nil, &Error{http.StatusNotFound, "NoSuchHostedZone", "No hosted zone found with ID: " + id}
	case z.account != a:
		return nil, forbidden("AccessDenied", "User is not authorized to access this resource")
	}
	return z, nil
}

func maxItems(r *http.Request, most int) (int, error) {
	text := r.URL.Query().Get("maxitems")
	if text == "" {
		return most, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, BadRequest("InvalidInput", "Invalid value for 'maxitems' : %s", text)
	}
	return min(n, most), nil
}

// zonesPage is how many zones a page holds.
const zonesPage = 100

func (s *Server) listZones(a *Account, _ string, r *http.Request, _ []byte) (any, error) {
	most, err := maxItems(r, zonesPage)
	if err != nil {
		return nil, err
	}
	out := struct {
		XMLName     xml.Name  `xml:"https://route53.amazonaws.com/doc/2013-04-01/ ListHostedZonesResponse"`
		HostedZones []zoneXML `xml:"HostedZones>HostedZone"`
		Marker      string    `xml:",omitempty"`
		IsTruncated bool
		NextMarker  string `xml:",omitempty"`
		MaxItems    int
	}{Marker: r.URL.Query().Get("marker"), MaxItems: most}
	for _, z := range s.zonesOf(a) {
		switch {
		case z.id < out.Marker:
		case len(out.HostedZones) == most:
			out.IsTruncated, out.NextMarker = true, z.id
			return out, nil
		default:
			out.HostedZones = append(out.HostedZones, z.show())
		}
	}
	return out, nil
}

func (s *Server) listZonesByName(a *Account, _ string, r *http.Request, _ []byte) (any, error) {
	most, err := maxItems(r, zonesPage)
	if err != nil {
		return nil, err
	}
	zones := s.zonesOf(a)
	slices.SortStableFunc(zones, func(a, b *zone) int { return strings.Compare(orderOf(a.name), orderOf(b.name)) })
	out := struct {
		XMLName      xml.Name  `xml:"https://route53.amazonaws.com/doc/2013-04-01/ ListHostedZonesByNameResponse"`
		HostedZones  []zoneXML `xml:"HostedZones>HostedZone"`
		DNSName      string    `xml:",omitempty"`
		IsTruncated  bool
		NextDNSName  string `xml:",omitempty"`
		NextHostedID string `xml:"NextHostedZoneId,omitempty"`
		MaxItems     int
	}{DNSName: r.URL.Query().Get("dnsname"), MaxItems: most}
	for _, z := range zones {
		from := out.DNSName != "" && orderOf(z.name) < orderOf(spelled(out.DNSName))
		switch {
		case from:
		case len(out.HostedZones) == most:
			out.IsTruncated, out.NextDNSName, out.NextHostedID = true, z.name, z.id
			return out, nil
		default:
			out.HostedZones = append(out.HostedZones, z.show())
		}
	}
	return out, nil
}

func (s *Server) getZone(a *Account, id string, _ *http.Request, _ []byte) (any, error) {
	z, err := s.zone(a, id)
	if err != nil {
		return nil, err
	}
	return struct {
		XMLName     xml.Name `xml:"https://route53.amazonaws.com/doc/2013-04-01/ GetHostedZoneResponse"`
		HostedZone  zoneXML
		NameServers []string `xml:"DelegationSet>NameServers>NameServer"`
	}{HostedZone: z.show(), NameServers: []string{"ns-1.awsdns-00.org", "ns-2.awsdns-00.com"}}, nil
}

func (s *Server) getChange(_ *Account, id string, _ *http.Request, _ []byte) (any, error) {
	at, ok := s.changes[id]
	if !ok {
		return nil, &Error{http.StatusNotFound, "NoSuchChange", "A change with the ID " + id + " does not exist."}
	}
	return struct {
		XMLName    xml.Name `xml:"https://route53.amazonaws.com/doc/2013-04-01/ GetChangeResponse"`
		ChangeInfo changeInfoXML
	}{ChangeInfo: s.info(id, at)}, nil
}

func (s *Server) info(id string, at time.Time) changeInfoXML {
	status := "PENDING"
	if !s.o.Now().Before(at) {
		status = "INSYNC"
	}
	return changeInfoXML{ID: "/change/" + id, Status: status, SubmittedAt: at.Add(-s.o.Delay).UTC().Format(time.RFC3339)}
}

func (s *Server) listSets(a *Account, id string, r *http.Request, _ []byte) (any, error) {
	z, err := s.zone(a, id)
	if err != nil {
		return nil, err
	}
	most, err := maxItems(r, s.o.Page)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	from := setKey{"", q.Get("type"), q.Get("identifier")}
	switch {
	case q.Get("name") != "":
		from.order = orderOf(spelled(q.Get("name")))
	case from.kind != "":
		return nil, BadRequest("InvalidInput", "The input is not valid: a type needs a name.")
	}
	out := struct {
		XMLName              xml.Name `xml:"https://route53.amazonaws.com/doc/2013-04-01/ ListResourceRecordSetsResponse"`
		Sets                 []setXML `xml:"ResourceRecordSets>ResourceRecordSet"`
		IsTruncated          bool
		NextRecordName       string `xml:",omitempty"`
		NextRecordType       string `xml:",omitempty"`
		NextRecordIdentifier string `xml:",omitempty"`
		MaxItems             int
	}{MaxItems: most}
	for _, key := range z.order() {
		switch set := z.sets[key]; {
		case key.compare(from) < 0:
		case len(out.Sets) == most:
			out.IsTruncated = true
			out.NextRecordName, out.NextRecordType, out.NextRecordIdentifier = set.Name, set.Type, set.SetIdentifier
			return out, nil
		default:
			out.Sets = append(out.Sets, toXML(set))
		}
	}
	return out, nil
}
