// Package octodns reads and writes zones as octoDNS' YamlProvider has them: a map from names, relative to the zone, to
// records with a type, a TTL and values.
//
// Of a text octoDNS has what stands between the quotes of a master file, with a backslash before each semicolon, and
// joins the strings of a TXT record.
package octodns

import (
	"strings"

	"github.com/zonefold/zonefold/internal/rr"
)

// A field is one word of the data of a type, in its order, and what octoDNS calls it.
type field struct {
	name  string
	alias string // an older name
	form  form
	unset string // what it is if it is not there; "" if it has to be
}

// A form says how a field is written.
type form uint8

const (
	word   form = iota // a name, or an address
	number             // an integer
	metres             // a number with an "m" at its end in master files
	quoted             // a string
	rest               // all words to the end, without spaces
	params             // parameters of a service (RFC 9460)
)

// forms are the types that octoDNS has and a Zone can hold. A type without fields has one word, or is a text.
func forms() map[rr.Type][]field {
	service := []field{{name: "svcpriority", form: number}, {name: "targetname"}, {name: "svcparams", form: params}}
	return map[rr.Type][]field{
		rr.TypeA: nil, rr.TypeAAAA: nil, rr.TypeCNAME: nil, rr.TypeDNAME: nil, rr.TypeNS: nil, rr.TypePTR: nil,
		rr.TypeTXT: nil, typeSPF: nil, rr.TypeOPENPGPKEY: nil,
		rr.TypeMX: {{name: "preference", alias: "priority", form: number}, {name: "exchange", alias: "value"}},
		rr.TypeSRV: {{name: "priority", form: number}, {name: "weight", form: number}, {name: "port", form: number},
			{name: "target"}},
		rr.TypeCAA: {{name: "flags", form: number, unset: "0"}, {name: "tag"}, {name: "value", form: quoted}},
		rr.TypeDS: {{name: "key_tag", form: number}, {name: "algorithm", form: number}, {name: "digest_type", form: number},
			{name: "digest", form: rest}},
		rr.TypeSSHFP: {{name: "algorithm", form: number}, {name: "fingerprint_type", form: number},
			{name: "fingerprint", form: rest}},
		rr.TypeTLSA: {{name: "certificate_usage", form: number}, {name: "selector", form: number},
			{name: "matching_type", form: number}, {name: "certificate_association_data", form: rest}},
		rr.TypeNAPTR: {{name: "order", form: number}, {name: "preference", form: number}, {name: "flags", form: quoted},
			{name: "service", form: quoted}, {name: "regexp", form: quoted}, {name: "replacement"}},
		rr.TypeLOC: {{name: "lat_degrees", form: number}, {name: "lat_minutes", form: number},
			{name: "lat_seconds", form: number}, {name: "lat_direction"}, {name: "long_degrees", form: number},
			{name: "long_minutes", form: number}, {name: "long_seconds", form: number}, {name: "long_direction"},
			{name: "altitude", form: metres}, {name: "size", form: metres}, {name: "precision_horz", form: metres},
			{name: "precision_vert", form: metres}},
		rr.TypeURI:  {{name: "priority", form: number}, {name: "weight", form: number}, {name: "target", form: quoted}},
		rr.TypeSVCB: service, rr.TypeHTTPS: service,
	}
}

// isList reports whether octoDNS has the value of a parameter as a list.
func isList(param string) bool {
	return param == "alpn" || param == "ipv4hint" || param == "ipv6hint" || param == "mandatory"
}

// unquote returns a text of octoDNS as what stands between the quotes of a master file.
func unquote(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			if i++; text[i] == ';' {
				out.WriteByte(';')
			} else {
				out.WriteString(`\` + text[i:i+1])
			}
		case c == '\\':
			out.WriteString(`\\`)
		case c == '"':
			out.WriteString(`\"`)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// enquote is the reverse: what stands between quotes becomes a text of octoDNS. A backslash is written by its number,
// because octoDNS takes two before a semicolon for a mistake; so are quotes that it would take for those of strings.
func enquote(content string, semicolons bool) string {
	var out strings.Builder
	likeStrings := strings.HasPrefix(content, `\"`) || strings.Contains(content, `\" \"`)
	for i := 0; i < len(content); i++ {
		switch c := content[i]; {
		case c == '\\' && i+1 < len(content):
			switch i++; content[i] {
			case '"':
				if likeStrings {
					out.WriteString(`\034`)
				} else {
					out.WriteByte('"')
				}
			case '\\':
				out.WriteString(`\092`)
			default:
				out.WriteString(`\` + content[i:i+1])
			}
		case c == ';' && semicolons:
			out.WriteString(`\;`)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// words cuts canonical data at its spaces; of a quoted word it returns what stands between the quotes.
func words(data string) []string {
	var out []string
	for data != "" {
		inQuotes, end := false, 0
		for ; end < len(data) && (inQuotes || data[end] != ' '); end++ {
			switch data[end] {
			case '"':
				inQuotes = !inQuotes
			case '\\':
				end++
			}
		}
		end = min(end, len(data))
		w := data[:end]
		if len(w) > 1 && w[0] == '"' && w[len(w)-1] == '"' {
			w = w[1 : len(w)-1]
		}
		out = append(out, w)
		data = strings.TrimPrefix(data[end:], " ")
	}
	return out
}
