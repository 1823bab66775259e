package bindcar

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/rr"
)

// defaultRecordTTL is the TTL of a record without one, in seconds.
const defaultRecordTTL = 3600

// recordTypes are the types that the record calls take.
var recordTypes = []string{"A", "AAAA", "CNAME", "MX", "TXT", "NS", "PTR", "SRV", "CAA"}

func (s *Server) addRecord(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var c AddRecord
	zone, err := s.recordCall(w, r, &c)
	if err != nil {
		return 0, nil, err
	}
	ttl := or(c.TTL, defaultRecordTTL)
	key, data, err := readUpdate(zone, recordText{c.Name, c.Type, c.Value, c.Priority}, ttl)
	if err == nil {
		err = s.update(r.Context(), zone, update{what: "add", key: key, ttl: ttl, add: data})
	}
	if err != nil {
		return 0, nil, err
	}
	value := &c.Value
	return http.StatusCreated, recordDone("Record added to zone %s", zone,
		RecordChange{Name: c.Name, Type: c.Type, Value: &value, TTL: &ttl}), nil
}

func (s *Server) removeRecord(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var c RemoveRecord
	zone, err := s.recordCall(w, r, &c)
	if err != nil {
		return 0, nil, err
	}
	u := update{what: "remove"}
	if c.Value != nil {
		u.key, u.remove, err = readUpdate(zone, recordText{c.Name, c.Type, *c.Value, nil}, 0)
	} else {
		u.key, err = readKey(zone, c.Name, c.Type)
	}
	if err == nil {
		err = s.update(r.Context(), zone, u)
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, recordDone("Record removed from zone %s", zone,
		RecordChange{Name: c.Name, Type: c.Type, Value: &c.Value}), nil
}

func (s *Server) updateRecord(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var c UpdateRecord
	zone, err := s.recordCall(w, r, &c)
	if err != nil {
		return 0, nil, err
	}
	ttl := or(c.TTL, defaultRecordTTL)
	key, old, err := readUpdate(zone, recordText{c.Name, c.Type, c.CurrentValue, c.Priority}, ttl)
	u := update{what: "update", key: key, ttl: ttl, remove: old}
	if err == nil {
		_, u.add, err = readUpdate(zone, recordText{c.Name, c.Type, c.NewValue, c.Priority}, ttl)
	}
	if err == nil {
		err = s.update(r.Context(), zone, u)
	}
	if err != nil {
		return 0, nil, err
	}
	change := RecordChange{Name: c.Name, Type: c.Type, CurrentValue: &c.CurrentValue, NewValue: &c.NewValue, TTL: &ttl}
	return http.StatusOK, recordDone("Record updated in zone %s", zone, change), nil
}

func recordDone(message string, zone zoneName, change RecordChange) RecordResponse {
	return RecordResponse{Success: true, Message: fmt.Sprintf(message, zone.given),
		Details: RecordDetails{Zone: zone.given, Record: change}}
}

// recordCall reads a request about records of a zone, and refuses zones that take no updates.
func (s *Server) recordCall(w http.ResponseWriter, r *http.Request, into any) (zoneName, error) {
	zone, err := parseZone(r.PathValue("name"))
	if err != nil {
		return zone, err
	}
	if err := decode(w, r, into); err != nil {
		return zone, err
	}
	found, err := s.control.show(r.Context(), zone)
	if err := s.missing(zone, err); err != nil {
		return zone, err
	}
	if found.Type != bind9.Primary {
		return zone, noUpdates("Zone %s is %s type. Dynamic updates only supported on primary zones", zone.given, found.Type)
	}
	if len(found.AllowUpdate) == 0 {
		return zone, noUpdates("Zone %s does not have allow-update configured. Create zone with updateKeyName or modify "+
			"zone to enable dynamic updates", zone.given)
	}
	return zone, nil
}

// readKey checks the name and the type of a record.
func readKey(zone zoneName, name, typ string) (rr.Key, error) {
	if !slices.Contains(recordTypes, strings.ToUpper(typ)) {
		return rr.Key{}, invalidRecord("Invalid record type: %s. Supported types: %s", clip(typ), strings.Join(recordTypes,
			", "))
	}
	owner, err := zone.owner(name, true)
	if err != nil {
		return rr.Key{}, invalidRecord("%v", err)
	}
	t, err := rr.ParseType(typ)
	if err != nil {
		return rr.Key{}, invalidRecord("%v", err)
	}
	return rr.Key{Name: owner, Type: t}, nil
}

// readUpdate parses a record for an update. Names in its value have to be absolute here.
func readUpdate(zone zoneName, r recordText, ttl uint32) (rr.Key, string, error) {
	if _, err := readKey(zone, r.name, r.typ); err != nil {
		return rr.Key{}, "", err
	}
	if ttl > maxTTL {
		return rr.Key{}, "", invalidRecord("the TTL %d is more than %d (RFC 2181 §8)", ttl, maxTTL)
	}
	switch strings.ToUpper(r.typ) {
	case "CNAME", "NS", "PTR", "MX", "SRV":
		if !strings.HasSuffix(r.value, ".") {
			return rr.Key{}, "", invalidRecord("%s record value must be a fully qualified domain name ending with '.': %s",
				strings.ToUpper(r.typ), clip(r.value))
		}
	}
	key, data, err := readRecord(zone, r, true)
	if err != nil {
		return key, "", invalidRecord("%v", err)
	}
	return key, data, nil
}

// An update is one change of a set: remove a value, or without one the set, then add a value.
type update struct {
	what        string
	key         rr.Key
	ttl         uint32
	remove, add string // canonical data; "" is none
}

// update sends an UPDATE message and looks whether it did what it says: BIND answers NOERROR to what it leaves out,
// such as a CNAME beside other data.
func (b *bind) update(ctx context.Context, zone zoneName, u update) error {
	began := b.now()
	err := b.sendUpdate(ctx, zone, u)
	b.metrics.command("nsupdate_"+u.what, err, b.now().Sub(began))
	return err
}

func (b *bind) sendUpdate(ctx context.Context, zone zoneName, u update) error {
	keys, err := b.settings.signing()
	if err != nil {
		return err
	}
	var answer *dns.Msg
	var key bind9.Key
	for _, key = range keys {
		m := new(dns.Msg)
		m.SetUpdate(zone.name.String())
		if err := u.fill(m); err != nil {
			return invalidRecord("%v", err)
		}
		if answer, err = b.exchange(ctx, m, key); answer == nil || answer.Rcode != dns.RcodeNotAuth {
			break // otherwise BIND does not know the key, yet or any more
		}
	}
	if err != nil {
		return unavailable("updating "+zone.given, err)
	}
	switch answer.Rcode {
	case dns.RcodeSuccess:
	case dns.RcodeRefused:
		return noUpdates("Zone %s refuses the update: it is frozen, our key may not change it, or the change is not allowed",
			zone.given)
	default:
		return internal("updating "+zone.given, errors.New("BIND answers "+dns.RcodeToString[answer.Rcode]))
	}
	return b.verify(ctx, zone, u, key)
}

// fill writes the change into a message: what goes before what comes (RFC 2136 §2.5).
func (u update) fill(m *dns.Msg) error {
	if u.remove != "" {
		old, err := rr.NewSet(u.key, u.ttl, u.remove).RRs()
		if err != nil {
			return err
		}
		m.Remove(old)
	} else if u.add == "" {
		m.RemoveRRset([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: u.key.Name.String(), Rrtype: uint16(u.key.Type)}}})
	}
	if u.add != "" {
		next, err := rr.NewSet(u.key, u.ttl, u.add).RRs()
		if err != nil {
			return err
		}
		m.Insert(next)
	}
	return nil
}

// verify asks for the set.
func (b *bind) verify(ctx context.Context, zone zoneName, u update, key bind9.Key) error {
	m := new(dns.Msg)
	m.SetQuestion(u.key.Name.String(), uint16(u.key.Type))
	m.RecursionDesired = false
	answer, err := b.exchange(ctx, m, key)
	if err != nil {
		return unavailable("looking at what became of an update of "+zone.given, err)
	}
	if answer.Rcode == dns.RcodeRefused { // allow-query does not let us look
		return nil
	}
	var data []string
	for _, section := range [][]dns.RR{answer.Answer, answer.Ns} { // NS below the apex come as a referral
		sets, err := rr.FromRRs(section)
		if err != nil {
			return internal("looking at what became of an update of "+zone.given, err)
		}
		for _, set := range sets {
			if set.Key() == u.key {
				data = set.Data
			}
		}
	}
	switch there := func(value string) bool { return value != "" && slices.Contains(data, value) }; {
	case u.add != "" && !there(u.add):
		return invalidRecord(
			"BIND has left out %s %s: it does not go with the other records of the zone (a CNAME stands alone, RFC 1034 §3.6.2)",
			u.key, clip(u.add))
	case u.remove != "" && u.remove != u.add && there(u.remove), u.remove == "" && u.add == "" && len(data) > 0:
		return invalidRecord("BIND has kept %s: the last name server of a zone cannot be removed", u.key)
	}
	return nil
}
