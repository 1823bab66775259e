package route53test

import (
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Quotas of a request.
const (
	maxRecords    = 1000   // an UPSERT's count twice
	maxCharacters = 32_000 // an UPSERT's count twice
	maxInSet      = 400
)

func (s *Server) changeSets(a *Account, id string, _ *http.Request, body []byte) (any, error) {
	z, err := s.zone(a, id)
	if err != nil {
		return nil, err
	}
	var request changesXML
	if err := xml.Unmarshal(body, &request); err != nil {
		return nil, BadRequest("MalformedInput", "%v", err)
	}
	if len(request.Changes) == 0 {
		return nil, BadRequest("InvalidInput", "Invalid XML ; the batch has no changes")
	}
	if err := quotas(request); err != nil {
		return nil, err
	}
	after, messages := z.changed(request)
	if len(messages) == 0 {
		messages = z.contradictions(after, request)
	}
	if len(messages) == 0 && len(after) > s.o.Sets {
		messages = []string{"Exceeded limit MAX_RRSETS_BY_ZONE for zone: " + z.id}
	}
	if len(messages) > 0 {
		return nil, BadRequest("InvalidChangeBatch", "[%s]", strings.Join(messages, ", "))
	}
	z.sets = after
	s.serial++
	change := fmt.Sprintf("C%014d", s.serial)
	s.changes[change] = s.o.Now().Add(s.o.Delay)
	return struct {
		XMLName    xml.Name `xml:"https://route53.amazonaws.com/doc/2013-04-01/ ChangeResourceRecordSetsResponse"`
		ChangeInfo changeInfoXML
	}{ChangeInfo: s.info(change, s.changes[change])}, nil
}

// quotas are checked before anything else.
func quotas(request changesXML) error {
	records, characters := 0, 0
	for _, c := range request.Changes {
		set, times := fromXML(c.Set), 1
		if c.Action == "UPSERT" {
			times = 2
		}
		records += times * len(set.Records)
		for _, value := range set.Records {
			characters += times * utf8.RuneCountInString(value)
		}
		if len(set.Records) > maxInSet {
			return BadRequest("InvalidChangeBatch", "[Cannot have more than %d records in a RRSet.]", maxInSet)
		}
	}
	switch {
	case records > maxRecords:
		return BadRequest("InvalidChangeBatch", "[Number of records limit of %d exceeded.]", maxRecords)
	case characters > maxCharacters:
		return BadRequest("InvalidChangeBatch", "[RDATA character limit of %d exceeded.]", maxCharacters)
	}
	return nil
}

// changed is what the zone would hold, and what is wrong with the changes.
func (z *zone) changed(request changesXML) (after map[setKey]*Set, messages []string) {
	after = maps.Clone(z.sets)
	for _, c := range request.Changes {
		set := fromXML(c.Set)
		set.Name = spelled(set.Name)
		key := keyOf(&set)
		if text := z.wrong(&set); text != "" {
			messages = append(messages, text)
			continue
		}
		old := after[key]
		called := fmt.Sprintf("resource record set [name='%s', type='%s'", set.Name, set.Type)
		if set.SetIdentifier != "" {
			called += fmt.Sprintf(", set identifier='%s'", set.SetIdentifier)
		}
		called += "]"
		switch {
		case c.Action == "CREATE" && old != nil:
			messages = append(messages, "Tried to create "+called+" but it already exists")
		case c.Action == "CREATE", c.Action == "UPSERT":
			after[key] = &set
		case c.Action != "DELETE":
			messages = append(messages, fmt.Sprintf("Invalid action '%s'", c.Action))
		case old == nil:
			messages = append(messages, "Tried to delete "+called+" but it was not found")
		case !equal(old, &set):
			messages = append(messages, "Tried to delete "+called+" but the values provided do not match the current values")
		default:
			delete(after, key)
		}
	}
	return after, messages
}

// equal reports whether a deletion names what is there.
func equal(a, b *Set) bool {
	if (a.AliasTarget == nil) != (b.AliasTarget == nil) || a.AliasTarget != nil && *a.AliasTarget != *b.AliasTarget {
		return false
	}
	if (a.TTL == nil) != (b.TTL == nil) || a.TTL != nil && *a.TTL != *b.TTL {
		return false
	}
	return slices.Equal(slices.Sorted(slices.Values(a.Records)), slices.Sorted(slices.Values(b.Records)))
}

// contradictions says which of the changed sets cannot be in the zone together with the others.
func (z *zone) contradictions(after map[setKey]*Set, request changesXML) (messages []string) {
	if after[setKey{orderOf(z.name), "NS", ""}] == nil {
		messages = append(messages, "A HostedZone must contain at least one NS record for the zone itself.")
	}
	if after[setKey{orderOf(z.name), "SOA", ""}] == nil {
		messages = append(messages, "A HostedZone must contain exactly one SOA record.")
	}
	at := map[string][]*Set{}
	for key, set := range after {
		at[key.order] = append(at[key.order], set)
	}
	for _, c := range request.Changes {
		name := spelled(c.Set.Name)
		set := after[setKey{orderOf(name), c.Set.Type, c.Set.SetIdentifier}]
		if set == nil {
			continue
		}
		for _, other := range at[orderOf(name)] {
			switch {
			case other == set:
				continue
			case other.Type == set.Type && (other.SetIdentifier == "" || set.SetIdentifier == ""):
				messages = append(messages, fmt.Sprintf("RRSet with DNS name %s, type %s, SetIdentifier %s cannot be created as "+
					"other RRSets exist with the same name and type.", name, set.Type, set.SetIdentifier))
			case set.Type == "CNAME" && other.Type != "CNAME":
				messages = append(messages, fmt.Sprintf("RRSet of type CNAME with DNS name %s is not permitted as it conflicts "+
					"with other records with the same DNS name in zone %s", name, z.name))
			case other.Type == "CNAME" && set.Type != "CNAME":
				messages = append(messages, fmt.Sprintf("RRSet of type %s with DNS name %s is not permitted because a "+
					"conflicting RRSet of type CNAME with the same DNS name already exists in zone %s", set.Type, name, z.name))
			default:
				continue
			}
			break
		}
	}
	return messages
}
