package move

import (
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// The document that render -o json prints. Its fields and their order are fixed.
type (
	JsonDocument struct {
		Zones   []jsonZone   `json:"zones"`
		Records []jsonRecord `json:"records"`
	}
	jsonZone struct {
		Kind      string         `json:"kind"`
		Namespace string         `json:"namespace"`
		Name      string         `json:"name"`
		FQDN      string         `json:"fqdn"`
		Parent    *explained.Ref `json:"parent"`
		Accepted  bool           `json:"accepted"`
		Reason    zone.Reason    `json:"reason"`
		Message   string         `json:"message"`
		Hash      string         `json:"hash"`
		Serial    uint32         `json:"serial"`
		Entries   []jsonEntry    `json:"entries"`
	}
	jsonRecord struct {
		Kind      string         `json:"kind"`
		Namespace string         `json:"namespace"`
		Name      string         `json:"name"`
		FQDN      string         `json:"fqdn"`
		Type      string         `json:"type,omitempty"` // of an object that asks for several sets
		Zone      *explained.Ref `json:"zone"`
		Accepted  bool           `json:"accepted"`
		Reason    zone.Reason    `json:"reason"`
		Message   string         `json:"message"`
	}
	jsonEntry struct {
		FQDN  string `json:"fqdn"`
		Class string `json:"class"`
		Type  string `json:"type"`
		TTL   uint32 `json:"ttl"`
		RData string `json:"rdata"`
	}
)

func documentOf(c *fold.Composition) JsonDocument {
	doc := JsonDocument{Zones: make([]jsonZone, 0, len(c.Zones)), Records: make([]jsonRecord, 0, len(c.Records))}
	for _, z := range c.Zones {
		doc.Zones = append(doc.Zones, jsonZone{
			Kind: z.Object.Kind, Namespace: z.Object.Ref.Namespace, Name: z.Object.Name, FQDN: z.Verdict.Name.String(),
			Parent: explained.RefOf(z.Verdict.Zone), Accepted: z.Verdict.Accepted, Reason: z.Verdict.Reason,
			Message: z.Verdict.Message,
			Hash:    z.Snapshot.Hash, Serial: z.Serial, Entries: entriesOf(z),
		})
	}
	for _, r := range c.Records {
		doc.Records = append(doc.Records, jsonRecord{
			Kind: r.Object.Kind, Namespace: r.Object.Ref.Namespace, Name: r.Object.Name, FQDN: r.Verdict.Name.String(),
			Type: fold.TypeOf(r.Claim), Zone: explained.RefOf(r.Verdict.Zone), Accepted: r.Verdict.Accepted,
			Reason: r.Verdict.Reason, Message: r.Verdict.Message,
		})
	}
	return doc
}

// entriesOf returns the records of a zone as its status has them: the SOA first, then
// canonical order; none if the Zone is not accepted.
func entriesOf(z fold.ZoneResult) []jsonEntry {
	if !z.Verdict.Accepted {
		return []jsonEntry{}
	}
	entries := make([]jsonEntry, 0, z.Snapshot.Sets.Len()+1)
	if !z.Object.Zoneless() {
		entries = append(entries, jsonEntry{
			z.Snapshot.Name.String(), "IN", rr.TypeSOA.String(), z.Snapshot.SOA.TTL, z.Snapshot.SOA.Data()})
	}
	for set := range z.Snapshot.Sets.All() {
		for _, data := range set.Data {
			entries = append(entries, jsonEntry{set.Name.String(), "IN", set.Type.String(), set.TTL, data})
		}
	}
	return entries
}
