package cloudflare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// record is one value as the API has it. The content of some types is in its data, of others in its text.
type record struct {
	ID       string  `json:"id,omitempty"`
	Name     string  `json:"name,omitempty"`
	Type     string  `json:"type,omitempty"`
	Content  string  `json:"content,omitempty"`
	Priority *uint16 `json:"priority,omitempty"` // MX, URI
	Data     values  `json:"data,omitempty"`
	TTL      uint32  `json:"ttl,omitempty"`
	Proxied  *bool   `json:"proxied,omitempty"`
	Meta     *meta   `json:"meta,omitempty"`
}

// meta is what the service says about a record.
type meta struct {
	ReadOnly bool `json:"read_only"`
}

// values are fields of rdata by name: texts, and numbers as they were written.
type values map[string]any

// UnmarshalJSON keeps numbers as they are: those of LOC have decimals.
func (v *values) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode((*map[string]any)(v))
}

// kindOfField is how a field of rdata stands in the API's data.
type kindOfField uint8

const (
	number kindOfField = iota
	word
	host   // a name, without its final dot
	quoted // a character string, without quotation marks and escapes
	metres // a number with an "m" after it
	rest   // all that is left
)

// A form says where the fields of a type's canonical rdata are in the API's records.
type form struct {
	text   bool    // all of it is in the content
	fields []field // in the order of canonical rdata
}

// A field of the data; one called "priority" of a type that has text, or of URI, is the record's.
type field struct {
	name string
	kind kindOfField
}

var (
	association = []field{{"usage", number}, {"selector", number}, {"matching_type", number}, {"certificate", rest}}
	binding     = []field{{"priority", number}, {"target", host}, {"value", rest}}
)

// forms are the types that the service holds.
var forms = map[rr.Type]form{
	rr.TypeA:          {text: true, fields: []field{{"content", word}}},
	rr.TypeAAAA:       {text: true, fields: []field{{"content", word}}},
	rr.TypeCNAME:      {text: true, fields: []field{{"content", host}}},
	rr.TypeNS:         {text: true, fields: []field{{"content", host}}},
	rr.TypePTR:        {text: true, fields: []field{{"content", host}}},
	rr.TypeMX:         {text: true, fields: []field{{"priority", number}, {"content", host}}},
	rr.TypeTXT:        {text: true, fields: []field{{"content", rest}}},
	rr.TypeOPENPGPKEY: {text: true, fields: []field{{"content", rest}}},
	rr.TypeCAA:        {fields: []field{{"flags", number}, {"tag", word}, {"value", quoted}}},
	rr.TypeCERT: {fields: []field{{"type", number}, {"key_tag", number}, {"algorithm", number},
		{"certificate", rest}}},
	rr.TypeDNSKEY: {fields: []field{{"flags", number}, {"protocol", number}, {"algorithm", number},
		{"public_key", rest}}},
	rr.TypeDS: {fields: []field{{"key_tag", number}, {"algorithm", number}, {"digest_type", number},
		{"digest", rest}}},
	rr.TypeHTTPS: {fields: binding},
	rr.TypeSVCB:  {fields: binding},
	rr.TypeLOC: {fields: []field{
		{"lat_degrees", number}, {"lat_minutes", number}, {"lat_seconds", number}, {"lat_direction", word},
		{"long_degrees", number}, {"long_minutes", number}, {"long_seconds", number}, {"long_direction", word},
		{"altitude", metres}, {"size", metres}, {"precision_horz", metres}, {"precision_vert", metres},
	}},
	rr.TypeNAPTR: {fields: []field{
		{"order", number}, {"preference", number}, {"flags", quoted}, {"service", quoted}, {"regex", quoted},
		{"replacement", host},
	}},
	rr.TypeSMIMEA: {fields: association},
	rr.TypeTLSA:   {fields: association},
	rr.TypeSRV:    {fields: []field{{"priority", number}, {"weight", number}, {"port", number}, {"target", host}}},
	rr.TypeSSHFP:  {fields: []field{{"algorithm", number}, {"type", number}, {"fingerprint", rest}}},
	rr.TypeURI:    {fields: []field{{"priority", number}, {"weight", number}, {"target", quoted}}},
}

// refuses says which types cannot be stored.
func refuses(t rr.Type) string {
	if _, ok := forms[t]; ok {
		return ""
	}
	var names []string
	for known := range forms {
		names = append(names, known.String())
	}
	slices.Sort(names)
	return fmt.Sprintf("has no %s records: Cloudflare has %s", t, strings.Join(names, ", "))
}

// own reports whether a field stands in the record itself and not in its data.
func (f field) own(t rr.Type) bool {
	return forms[t].text || f.name == "priority" && t == rr.TypeURI
}

// toRecord is one value as the API takes it, without ID, TTL and proxying.
func toRecord(key rr.Key, data string) (record, error) {
	out := record{Name: bare(key.Name), Type: key.Type.String()}
	form, ok := forms[key.Type]
	if !ok {
		return record{}, errors.New("the service " + refuses(key.Type))
	}
	if strings.HasPrefix(data, `\#`) {
		return record{}, errors.New("the data are in the form of RFC 3597, which the service does not support")
	}
	if !form.text {
		out.Data = values{}
	}
	left := data
	for i, f := range form.fields {
		text, after, err := f.take(left)
		if err != nil {
			return record{}, err
		}
		if left = after; left == "" && i < len(form.fields)-1 && form.fields[i+1].kind != rest {
			return record{}, errors.New("the data are too short")
		}
		switch {
		case !f.own(key.Type) && (f.kind == number || f.kind == metres):
			out.Data[f.name] = json.Number(text)
		case !f.own(key.Type):
			out.Data[f.name] = text
		case f.name == "priority":
			v, err := strconv.ParseUint(text, 10, 16)
			if err != nil {
				return record{}, err
			}
			priority := uint16(v)
			out.Priority = &priority
		default:
			out.Content = text
		}
	}
	return out, nil
}

// take takes a field from the beginning of canonical rdata.
func (f field) take(data string) (text, left string, err error) {
	switch f.kind {
	case rest:
		return data, "", nil
	case quoted:
		return unquote(data)
	}
	text, left, _ = strings.Cut(data, " ")
	switch {
	case f.kind == metres:
		text = strings.TrimSuffix(text, "m")
	case f.kind == host && text != ".":
		text = strings.TrimSuffix(text, ".")
	}
	return text, left, nil
}

// unquote takes a character string (RFC 1035 §5.1) from the beginning of canonical rdata.
func unquote(data string) (text, left string, err error) {
	if !strings.HasPrefix(data, `"`) {
		return "", "", errors.New("a character string does not begin with a quotation mark")
	}
	var b []byte
	for i := 1; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			if !utf8.Valid(b) {
				return "", "", errors.New("the data have octets that are not UTF-8, which the service cannot store")
			}
			return string(b), strings.TrimPrefix(data[i+1:], " "), nil
		case c == '\\' && i+3 < len(data) && data[i+1] >= '0' && data[i+1] <= '9':
			v, err := strconv.ParseUint(data[i+1:i+4], 10, 8)
			if err != nil {
				return "", "", err
			}
			b, i = append(b, byte(v)), i+3
		case c == '\\' && i+1 < len(data):
			b, i = append(b, data[i+1]), i+1
		default:
			b = append(b, c)
		}
	}
	return "", "", errors.New("a character string does not end")
}

// fromRecord reads the key and the canonical data of one value. What cannot be read as what it says it is, is there and
// equals nothing that is ever wanted.
func fromRecord(in record) (rr.Key, string, error) {
	name, err := rr.MessageName(strings.TrimSuffix(in.Name, ".") + ".")
	if err != nil {
		return rr.Key{}, "", fmt.Errorf("the service's name %q: %w", in.Name, err)
	}
	t, err := rr.ParseType(in.Type)
	if err != nil {
		known, ok := dns.StringToType[in.Type]
		if !ok {
			return rr.Key{}, "", fmt.Errorf(
				"%s: the service has records of type %q, which zonefold does not know", name, in.Type)
		}
		t = rr.Type(known)
	}
	key := rr.Key{Name: name, Type: t}
	if form, ok := forms[t]; ok {
		if text, ok := form.presentation(t, in); ok {
			if data, err := rr.ParseData(t, text); err == nil {
				return key, data, nil
			}
		}
	}
	return key, fmt.Sprintf(`\# %d %x`, len(in.ID)+len(in.Content), in.ID+in.Content), nil
}

// presentation is rdata in presentation format, in any form that package rr reads.
func (f form) presentation(t rr.Type, in record) (string, bool) {
	parts := make([]string, len(f.fields))
	for i, field := range f.fields {
		var text string
		switch value := in.Data[field.name].(type) {
		case string:
			text = value
		case json.Number:
			text = value.String()
		}
		switch {
		case !field.own(t):
		case field.name != "priority":
			text = in.Content
		case in.Priority != nil:
			text = strconv.Itoa(int(*in.Priority))
		}
		if text == "" && field.kind != rest && field.kind != quoted {
			return "", false
		}
		parts[i] = field.say(t, text)
	}
	return strings.TrimSpace(strings.Join(parts, " ")), true
}

// say is a field in presentation format.
func (f field) say(t rr.Type, text string) string {
	switch {
	case f.kind == host:
		return strings.TrimSuffix(text, ".") + "."
	case f.kind == metres:
		return text + "m"
	case f.kind == quoted:
		return quote(text)
	case t == rr.TypeTXT && !strings.HasPrefix(strings.TrimSpace(text), `"`):
		return rr.Text(text) // as people write it in the dashboard
	}
	return text
}

// bare is a name as the API has it: absolute, without the final dot.
func bare(n dnsname.Name) string { return strings.TrimSuffix(n.String(), ".") }

// quote is a character string of any length in presentation format.
func quote(text string) string {
	var b strings.Builder
	for chunk := range slices.Chunk([]byte(text), 255) {
		said := rr.Text(string(chunk))
		b.WriteString(said[1 : len(said)-1])
	}
	return `"` + b.String() + `"`
}
