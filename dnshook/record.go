package dnshook

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// An ID names a record: what is of one ID is one record.
type ID struct {
	Type      string `json:"type"`
	Domain    string `json:"domain"`
	Subdomain string `json:"subdomain"` // "@": the domain itself
}

// A Record is one record of the protocol: all values of one type at one name.
type Record struct {
	Type      string    `json:"type"`
	Domain    string    `json:"domain"`
	Subdomain string    `json:"subdomain"`
	FQDN      string    `json:"fqdn,omitempty"` // of answers only, without a final dot
	Values    []string  `json:"values"`
	TTL       uint32    `json:"ttl,omitempty"` // seconds; 0: nothing is said
	Metadata  *Metadata `json:"metadata,omitempty"`
}

// Metadata are the numbers of MX (the priority) and SRV (all three) records.
type Metadata struct {
	Priority *uint16 `json:"priority,omitempty"`
	Weight   *uint16 `json:"weight,omitempty"`
	Port     *uint16 `json:"port,omitempty"`
}

// DefaultTTL is that of records that say nothing, in seconds.
const DefaultTTL = 300

// maxTTL is the largest TTL (RFC 2181 §8).
const maxTTL = 1<<31 - 1

// MaxValues is how many values a record may have.
const MaxValues = 1000

// types are those that records may have, in the order in which people are told of them.
var types = []string{"A", "AAAA", "CNAME", "TXT", "MX", "SRV", "NS", "PTR", "CAA"}

// Types are the record types of the protocol.
func Types() []string { return slices.Clone(types) }

// ID returns the name of the record.
func (r Record) ID() ID { return ID{r.Type, r.Domain, r.Subdomain} }

// Path is where a record is below the server's URL. Its parts need no escaping.
func (i ID) Path() string { return "/records/" + i.Type + "/" + i.Domain + "/" + i.Subdomain }

// String names the record for people.
func (i ID) String() string { return i.Type + " " + i.FQDN() }

// FQDN is the name of the record, without a final dot.
func (i ID) FQDN() string {
	if i.Subdomain == "@" {
		return i.Domain
	}
	return i.Subdomain + "." + i.Domain
}

// Canonical returns the ID in lower case, without final dots and with the type in upper case, or an *Error with the
// code INVALID_RECORD or INVALID_DOMAIN.
func (i ID) Canonical() (ID, error) {
	out := ID{strings.ToUpper(i.Type), plain(i.Domain), plain(i.Subdomain)}
	if !slices.Contains(types, out.Type) {
		return ID{}, failed(CodeInvalidRecord, "There is no type %q; there are %s.", clip(i.Type), strings.Join(types, ", "))
	}
	if err := check(out.Domain, false); err != nil {
		return ID{}, failed(CodeInvalidDomain, "The domain %q is not valid: %v.", clip(i.Domain), err)
	}
	if out.Subdomain == "@" {
		return out, nil
	}
	if err := check(out.Subdomain, true); err != nil {
		return ID{}, failed(CodeInvalidDomain,
			"The subdomain %q is not valid: %v; the domain itself is @.", clip(i.Subdomain),
			err)
	}
	_, err := dnsname.Parse(out.FQDN() + ".")
	if _, noAddress := netip.ParseAddr(out.FQDN()); err == nil && noAddress == nil {
		err = errAddress
	}
	if err != nil {
		return ID{}, failed(CodeInvalidDomain, "%q is not a name: %v.", clip(out.FQDN()), err)
	}
	return out, nil
}

// errAddress is about an address: the last label of no host's name is a number (RFC 1123 §2.1).
var errAddress = errors.New("it is an address")

func plain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// check reads one part of a name: labels of letters, digits, "_" and, between others, "-", so that paths look the same
// to everybody who signs or verifies them; with wildcard the first may be "*".
func check(name string, wildcard bool) error {
	rest := name
	if wildcard {
		rest = strings.TrimPrefix(strings.TrimPrefix(name, "*"), ".")
		if name == "*" {
			return nil
		}
		if strings.HasPrefix(name, "*") && !strings.HasPrefix(name, "*.") {
			return fmt.Errorf("a * is a whole label")
		}
	}
	for i := range len(rest) {
		switch c := rest[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		case c >= 0x80:
			return fmt.Errorf("it has letters that DNS does not support; write it as xn--…")
		default:
			return fmt.Errorf("it has the character %q", c)
		}
	}
	parsed, err := dnsname.Parse(rest + ".")
	switch _, noAddress := netip.ParseAddr(rest); {
	case err != nil:
		return err
	case rest == "":
		return fmt.Errorf("it is empty")
	case !wildcard && noAddress == nil:
		return errAddress
	}
	return dnsname.CheckOwner(parsed)
}

// clip keeps messages short, whatever somebody sends.
func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}

// Canonical returns the record with its ID, values and TTL as they are served, or an *Error that says what is wrong
// with it. Values that stand twice stand once, and a TTL that is missing is DefaultTTL.
func (r Record) Canonical() (Record, error) {
	id, err := r.ID().Canonical()
	if err != nil {
		return Record{}, err
	}
	out := Record{Type: id.Type, Domain: id.Domain, Subdomain: id.Subdomain, TTL: r.TTL}
	if out.TTL == 0 {
		out.TTL = DefaultTTL
	}
	switch {
	case out.TTL > maxTTL:
		return Record{}, failed(CodeInvalidRecord, "The ttl %d is more than %d seconds.", out.TTL, maxTTL)
	case len(r.Values) == 0:
		return Record{}, failed(CodeInvalidValue, "%s has no values.", id)
	case len(r.Values) > MaxValues:
		return Record{}, failed(CodeInvalidValue, "%s has %d values, more than %d.", id, len(r.Values), MaxValues)
	case len(r.Values) > 1 && id.Type == "CNAME":
		return Record{}, failed(CodeInvalidValue, "%s has %d values; an alias has one.", id, len(r.Values))
	}
	if out.Metadata, err = metadata(id, r.Metadata); err != nil {
		return Record{}, err
	}
	for _, v := range r.Values {
		value, err := canonicalValue(id.Type, v)
		if err == nil {
			_, err = data(id.Type, value, out.Metadata)
		}
		if err != nil {
			return Record{}, failed(CodeInvalidValue, "%s cannot have the value %q: %v.", id, clip(v), err)
		}
		if !slices.Contains(out.Values, value) {
			out.Values = append(out.Values, value)
		}
	}
	if id.Type == "MX" && len(out.Values) > 1 && slices.Contains(out.Values, ".") { // RFC 7505 §3
		return Record{}, failed(CodeInvalidValue,
			"%s has \".\", which means that no mail is accepted, beside mail servers.", id)
	}
	return out, nil
}

// metadata are the numbers that a type has; others are left out.
func metadata(id ID, m *Metadata) (*Metadata, error) {
	if m == nil {
		m = &Metadata{}
	}
	switch {
	case id.Type == "MX" && m.Priority == nil:
		return nil, failed(CodeInvalidRecord, "%s needs metadata.priority.", id)
	case id.Type == "MX":
		return &Metadata{Priority: m.Priority}, nil
	case id.Type == "SRV" && (m.Priority == nil || m.Weight == nil || m.Port == nil):
		return nil, failed(CodeInvalidRecord, "%s needs metadata.priority, metadata.weight and metadata.port.", id)
	case id.Type == "SRV":
		return &Metadata{m.Priority, m.Weight, m.Port}, nil
	}
	return nil, nil
}

// canonicalValue is a value as it is compared: names in lower case without a final dot.
func canonicalValue(kind, value string) (string, error) {
	switch kind {
	case "CNAME", "NS", "PTR", "MX", "SRV":
		name := plain(value)
		if value == "." && (kind == "MX" || kind == "SRV") { // there is no such service (RFC 7505, RFC 2782)
			return ".", nil
		}
		return name, check(name, false)
	case "TXT":
		return value, nil
	}
	return rr.ParseData(typeOf(kind), value)
}

func typeOf(kind string) rr.Type {
	t, _ := rr.ParseType(kind) // one of types
	return t
}

// data is a value in presentation format (RFC 1035 §5), as servers show it.
func data(kind, value string, m *Metadata) (string, error) {
	text := value
	switch kind {
	case "CNAME", "NS", "PTR":
		text = absolute(value)
	case "MX":
		text = fmt.Sprintf("%d %s", *m.Priority, absolute(value))
	case "SRV":
		text = fmt.Sprintf("%d %d %d %s", *m.Priority, *m.Weight, *m.Port, absolute(value))
	case "TXT":
		text = rr.Text(value)
	}
	return rr.ParseData(typeOf(kind), text)
}

func absolute(name string) string { return strings.TrimSuffix(name, ".") + "." }

// Data returns the rdata of a canonical record, a line each in presentation format, such as "10 mail.example.com.".
func (r Record) Data() ([]string, error) {
	if r.Metadata == nil && (r.Type == "MX" || r.Type == "SRV") {
		return nil, failed(CodeInvalidRecord, "%s has no metadata.", r.ID())
	}
	out := make([]string, len(r.Values))
	for i, v := range r.Values {
		var err error
		if out[i], err = data(r.Type, v, r.Metadata); err != nil {
			return nil, &Error{Status: http.StatusBadRequest, Code: CodeInvalidValue, Message: err.Error()}
		}
	}
	return out, nil
}
