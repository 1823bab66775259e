package cli

import (
	"encoding/json"
	"io"

	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// The document that render -o json prints. Its fields and their order are fixed.
type (
	jsonDocument struct {
		Zones   []jsonZone   `json:"zones"`
		Records []jsonRecord `json:"records"`
	}
	jsonZone struct {
		Kind      string      `json:"kind"`
		Namespace string      `json:"namespace"`
		Name      string      `json:"name"`
		FQDN      string      `json:"fqdn"`
		Parent    *jsonRef    `json:"parent"`
		Accepted  bool        `json:"accepted"`
		Reason    zone.Reason `json:"reason"`
		Message   string      `json:"message"`
		Hash      string      `json:"hash"`
		Serial    uint32      `json:"serial"`
		Entries   []jsonEntry `json:"entries"`
	}
	jsonObject = explained.Object
	jsonRecord struct {
		Kind      string      `json:"kind"`
		Namespace string      `json:"namespace"`
		Name      string      `json:"name"`
		FQDN      string      `json:"fqdn"`
		Type      string      `json:"type,omitempty"` // of an object that asks for several sets
		Zone      *jsonRef    `json:"zone"`
		Accepted  bool        `json:"accepted"`
		Reason    zone.Reason `json:"reason"`
		Message   string      `json:"message"`
	}
	jsonEntry struct {
		FQDN  string `json:"fqdn"`
		Class string `json:"class"`
		Type  string `json:"type"`
		TTL   uint32 `json:"ttl"`
		RData string `json:"rdata"`
	}
	jsonRef = explained.Ref
)

func documentOf(c *composition) jsonDocument {
	doc := jsonDocument{Zones: make([]jsonZone, 0, len(c.zones)), Records: make([]jsonRecord, 0, len(c.records))}
	for _, z := range c.zones {
		doc.Zones = append(doc.Zones, jsonZone{
			Kind: z.object.Kind, Namespace: z.object.Ref.Namespace, Name: z.object.Name, FQDN: z.verdict.Name.String(),
			Parent: refOf(z.verdict.Zone), Accepted: z.verdict.Accepted, Reason: z.verdict.Reason, Message: z.verdict.Message,
			Hash: z.snapshot.Hash, Serial: z.serial, Entries: entriesOf(z),
		})
	}
	for _, r := range c.records {
		doc.Records = append(doc.Records, jsonRecord{
			Kind: r.object.Kind, Namespace: r.object.Ref.Namespace, Name: r.object.Name, FQDN: r.verdict.Name.String(),
			Type: typeOf(r.claim), Zone: refOf(r.verdict.Zone), Accepted: r.verdict.Accepted,
			Reason: r.verdict.Reason, Message: r.verdict.Message,
		})
	}
	return doc
}

// entriesOf returns the records of a zone as its status has them: the SOA first, then
// canonical order; none if the Zone is not accepted.
func entriesOf(z zoneResult) []jsonEntry {
	if !z.verdict.Accepted {
		return []jsonEntry{}
	}
	entries := make([]jsonEntry, 0, z.snapshot.Sets.Len()+1)
	if !z.object.Zoneless() {
		entries = append(entries, jsonEntry{
			z.snapshot.Name.String(), "IN", rr.TypeSOA.String(), z.snapshot.SOA.TTL, z.snapshot.SOA.Data()})
	}
	for set := range z.snapshot.Sets.All() {
		for _, data := range set.Data {
			entries = append(entries, jsonEntry{set.Name.String(), "IN", set.Type.String(), set.TTL, data})
		}
	}
	return entries
}

func refOf(id zone.ID) *jsonRef {
	if id.IsZero() {
		return nil
	}
	return &jsonRef{Namespace: id.Namespace, Name: id.Name}
}

// writeJSON prints a value for people and programs.
func writeJSON(out io.Writer, value any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}
