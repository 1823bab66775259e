package cloudflaretest

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// transaction is one batch on its way.
type transaction struct {
	*Server
	zone    *Zone
	records map[string]map[string]any            // by ID
	names   map[string]map[string]map[string]any // the same by name
}

func (f *Server) begin(z *Zone) *transaction {
	t := &transaction{f, z, map[string]map[string]any{}, map[string]map[string]map[string]any{}}
	for _, r := range z.Records {
		t.keep(r)
	}
	return t
}

func (t *transaction) keep(r map[string]any) {
	id, name := r["id"].(string), r["name"].(string)
	if t.names[name] == nil {
		t.names[name] = map[string]map[string]any{}
	}
	t.records[id], t.names[name][id] = r, r
}

func (t *transaction) commit() { t.zone.Records = t.records }

func (z *Zone) sorted() []map[string]any {
	var all []map[string]any
	for _, id := range slices.Sorted(maps.Keys(z.Records)) {
		all = append(all, z.Records[id])
	}
	return all
}

type refusal struct {
	status, code int
	message      string
}

func (t *transaction) remove(r map[string]any) (map[string]any, *refusal) {
	id, _ := r["id"].(string)
	old := t.records[id]
	if old == nil {
		return nil, &refusal{404, 81044, "Record does not exist."}
	}
	delete(t.records, id)
	delete(t.names[old["name"].(string)], id)
	return map[string]any{"id": id}, nil
}

// put replaces a record: what is not named falls back to what it is by default.
func (t *transaction) put(r map[string]any) (map[string]any, *refusal) {
	old := t.records[fmt.Sprint(r["id"])]
	switch {
	case old == nil:
		return nil, &refusal{404, 81044, "Record does not exist."}
	case old["type"] != r["type"]:
		return nil, &refusal{400, 1004, "DNS Validation Error: the type of a record cannot be changed"}
	}
	if _, refused := t.remove(old); refused != nil {
		return nil, refused
	}
	return t.store(maps.Clone(r))
}

// patch keeps what is not named.
func (t *transaction) patch(r map[string]any) (map[string]any, *refusal) {
	old := t.records[fmt.Sprint(r["id"])]
	if old == nil {
		return nil, &refusal{404, 81044, "Record does not exist."}
	}
	whole := maps.Clone(old)
	maps.Copy(whole, r)
	return t.put(whole)
}

func (t *transaction) post(r map[string]any) (map[string]any, *refusal) {
	if _, ok := r["id"]; ok {
		return nil, &refusal{400, 1004, "DNS Validation Error: id"}
	}
	if t.Quota > 0 && len(t.records) >= t.Quota {
		return nil, &refusal{400, 81045, "Record quota exceeded."}
	}
	r = maps.Clone(r)
	t.next++
	r["id"] = fmt.Sprintf("%032x", t.next)
	return t.store(r)
}

// store checks a record and keeps it.
func (t *transaction) store(r map[string]any) (map[string]any, *refusal) {
	name, _ := r["name"].(string)
	if name != t.zone.Name && !strings.HasSuffix(name, "."+t.zone.Name) {
		r["name"] = name + "." + t.zone.Name
	}
	if refused := valid(r); refused != nil {
		return nil, refused
	}
	for _, o := range t.names[r["name"].(string)] {
		if refused := clash(o, r); refused != nil {
			return nil, refused
		}
	}
	t.keep(r)
	return r, nil
}

// clash says why two records of one name cannot be.
func clash(a, b map[string]any) *refusal {
	one, other := a["type"].(string), b["type"].(string)
	address := []string{"A", "AAAA", "CNAME"}
	switch {
	case one == other && same(a, b):
		return &refusal{400, 81058, "An identical record already exists."}
	case one == "CNAME" && slices.Contains(address, other), other == "CNAME" && slices.Contains(address, one):
		return &refusal{400, 81053, "An A, AAAA, or CNAME record with that host already exists."}
	case one == "CNAME" || other == "CNAME":
		return &refusal{400, 81054, "A CNAME record with that host already exists."}
	case (one == "NS") != (other == "NS") && one != "DS" && other != "DS":
		return &refusal{400, 81056, "NS records with that host already exist."}
	}
	return nil
}

func same(a, b map[string]any) bool {
	one, _ := Parsed(a)
	other, _ := Parsed(b)
	return one != nil && other != nil && dns.IsDuplicate(one, other)
}

// valid is the service's validation.
func valid(r map[string]any) *refusal {
	ttl, _ := r["ttl"].(float64)
	proxied, _ := r["proxied"].(bool)
	typ, _ := r["type"].(string)
	content, _ := r["content"].(string)
	address, err := netip.ParseAddr(content)
	switch {
	case ttl != 1 && (ttl < 60 || ttl > 86400 || ttl != float64(uint32(ttl))):
		return &refusal{400, 9021, "Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic."}
	case typ == "A" && (err != nil || !address.Is4()):
		return &refusal{400, 9005, "Content for A record must be a valid IPv4 address."}
	case typ == "AAAA" && (err != nil || !address.Is6()):
		return &refusal{400, 9006, "Content for AAAA record must be a valid IPv6 address."}
	case typ == "TXT" && len(content) > 2048:
		return &refusal{400, 9207, "Content for TXT record must not exceed 2048 characters."}
	case proxied && typ != "A" && typ != "AAAA" && typ != "CNAME":
		return &refusal{400, 9004, "This record type cannot be proxied."}
	}
	if proxied {
		r["ttl"] = float64(1) // whatever was asked for
	}
	if _, err := Parsed(r); err != nil {
		return &refusal{400, 1004, "DNS Validation Error: " + err.Error()}
	}
	return nil
}

// templates are rdata of the types whose records have data.
var templates = map[string]string{
	"CAA": "flags tag 'value", "CERT": "type key_tag algorithm certificate", "DNSKEY": "flags protocol " +
		"algorithm public_key",
	"DS": "key_tag algorithm digest_type digest", "HTTPS": "priority .target value", "SVCB": "priority .target value",
	"LOC": "lat_degrees lat_minutes lat_seconds lat_direction long_degrees long_minutes long_seconds long_direction " +
		"altitude size precision_horz precision_vert",
	"NAPTR": "order preference 'flags 'service 'regex .replacement", "SMIMEA": "usage selector matching_type certificate",
	"TLSA": "usage selector matching_type certificate", "SRV": "priority weight port .target",
	"SSHFP": "algorithm type fingerprint",
	"URI":   "^priority weight 'target",
}

// Parsed reads a record of the API as a server would.
func Parsed(r map[string]any) (dns.RR, error) {
	typ, _ := r["type"].(string)
	content, _ := r["content"].(string)
	var text []string
	switch template, structured := templates[typ]; {
	case structured:
		data, ok := r["data"].(map[string]any)
		if !ok || content != "" {
			return nil, fmt.Errorf("a %s record has data, not content", typ)
		}
		for _, word := range strings.Fields(template) {
			field := strings.TrimLeft(word, "'.^")
			value := data[field]
			if word[0] == '^' {
				value = r[field]
			}
			var said string
			switch v := value.(type) {
			case float64:
				said = strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
			case string:
				said = v
			default:
				return nil, fmt.Errorf("data.%s is missing", field)
			}
			if word[0] == '\'' {
				said = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(said) + `"`
			}
			if word[0] == '.' {
				said = strings.TrimSuffix(said, ".") + "."
			}
			text = append(text, said)
		}
	case slices.Contains([]string{"CNAME", "NS", "PTR"}, typ):
		text = []string{strings.TrimSuffix(content, ".") + "."}
	case typ == "MX":
		priority, ok := r["priority"].(float64)
		if !ok {
			return nil, fmt.Errorf("priority is missing")
		}
		text = []string{fmt.Sprint(priority), strings.TrimSuffix(content, ".") + "."}
	case slices.Contains([]string{"A", "AAAA", "TXT", "OPENPGPKEY"}, typ) && content != "":
		text = []string{content}
	default:
		return nil, fmt.Errorf("type %q with content %q", typ, content)
	}
	ttl, _ := r["ttl"].(float64)
	return dns.NewRR(fmt.Sprintf("%s. %d IN %s %s", r["name"], int(ttl), typ, strings.Join(text, " ")))
}
