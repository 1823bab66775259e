// Package endpoint knows what external-dns' webhook protocol says about sets of records. The operator speaks it at both
// ends: internal/backend/extdns asks servers of it, and internal/controller/externaldns is one.
package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/rr"
)

// MediaType is that of the protocol's version 1.
const MediaType = "application/external.dns.webhook+json;version=1"

// MaxBody is the protocol's usual limit of a body, in octets.
const MaxBody = 32 << 20

// Endpoint is what the protocol calls a set. What else somebody says about one goes back as it came.
type Endpoint struct {
	DNSName          string            `json:"dnsName,omitempty"`
	Targets          []string          `json:"targets,omitempty"`
	RecordType       string            `json:"recordType,omitempty"`
	SetIdentifier    string            `json:"setIdentifier,omitempty"`
	RecordTTL        int64             `json:"recordTTL,omitempty"` // seconds; 0: not said
	Labels           map[string]string `json:"labels,omitempty"`
	ProviderSpecific json.RawMessage   `json:"providerSpecific,omitempty"`
}

// Changes is what the protocol calls a change set. Updates are in pairs.
type Changes struct {
	Create    []Endpoint `json:"create,omitempty"`
	UpdateOld []Endpoint `json:"updateOld,omitempty"`
	UpdateNew []Endpoint `json:"updateNew,omitempty"`
	Delete    []Endpoint `json:"delete,omitempty"`
}

// None reports whether there is nothing to do.
func (c *Changes) None() bool { return len(c.Create)+len(c.UpdateNew)+len(c.Delete) == 0 }

// Of is a set as the protocol has it.
func Of(set rr.Set) (Endpoint, error) {
	name := strings.TrimSuffix(set.Name.String(), ".")
	if name == "" || strings.Contains(name, `\`) {
		return Endpoint{}, errors.New("the name has characters that the protocol has no form for")
	}
	out := Endpoint{DNSName: name, RecordType: set.Type.String(), RecordTTL: int64(set.TTL),
		Targets: make([]string, len(set.Data))}
	for i, data := range set.Data {
		if strings.HasPrefix(data, `\#`) {
			return Endpoint{}, errors.New("the data are in the form of RFC 3597, which the protocol does not support")
		}
		switch set.Type {
		case rr.TypeCNAME, rr.TypeNS, rr.TypePTR, rr.TypeDNAME, rr.TypeMX:
			if data != "." && !strings.HasSuffix(data, " .") {
				data = strings.TrimSuffix(data, ".")
			}
		}
		out.Targets[i] = data
	}
	return out, nil
}

// Key is the key of the set.
func (e Endpoint) Key() (rr.Key, error) {
	name, err := rr.MessageName(strings.TrimSuffix(e.DNSName, ".") + ".")
	if err != nil {
		return rr.Key{}, fmt.Errorf("the name %q: %w", e.DNSName, err)
	}
	t, err := rr.ParseType(e.RecordType)
	if err != nil {
		known, ok := dns.StringToType[strings.ToUpper(e.RecordType)]
		if !ok {
			return rr.Key{}, fmt.Errorf("%s has records of type %q, which zonefold does not know", name, e.RecordType)
		}
		t = rr.Type(known)
	}
	return rr.Key{Name: name, Type: t}, nil
}

// Data reads a target as people write it. A name at its end is absolute, with or without a final dot, and a text may
// lack quotation marks. The error is a sentence about the target.
func Data(t rr.Type, target string) (string, error) {
	target = strings.TrimSpace(target)
	if t == rr.TypeTXT && !strings.HasPrefix(target, `"`) {
		return rr.Text(target), nil
	}
	data, wrong := rr.ParseData(t, target)
	if wrong == nil || target == "" { // which is not the root
		return data, wrong
	}
	if data, err := rr.ParseData(t, target+"."); err == nil {
		return data, nil
	}
	return "", wrong
}
