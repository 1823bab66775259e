package route53

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// stored says which types the service has, with the field of their data that is a name; noName: none.
func stored() map[rr.Type]int {
	return map[rr.Type]int{
		rr.TypeA: noName, rr.TypeAAAA: noName, rr.TypeCAA: noName, rr.TypeDS: noName, rr.TypeSSHFP: noName,
		rr.TypeTLSA: noName,
		rr.TypeTXT:  noName, spf: noName, rr.TypeCNAME: 0, rr.TypeNS: 0, rr.TypePTR: 0, rr.TypeMX: 1, rr.TypeSRV: 3,
		rr.TypeNAPTR: lastField, rr.TypeSVCB: 1, rr.TypeHTTPS: 1, rr.TypeSOA: noName,
	}
}

const (
	noName    = -1
	lastField = -2
)

// spf is a type of the past (RFC 7208 §3.1), which package rr has no name for.
const spf rr.Type = 99

// refuses says which types cannot be stored.
func refuses(t rr.Type) string {
	if _, ok := stored()[t]; !ok {
		return fmt.Sprintf("has no %s records", t)
	}
	return ""
}

// What a request and a set may hold (quotas of the service): characters of values, records, each of which counts twice
// in an UPSERT; records in one set.
const (
	maxCharacters = 32_000
	maxRecords    = 1000
	maxSetSize    = 400
)

// size measures a change so that a batch below maxCharacters keeps to both quotas of a request: a record takes its
// characters, or as much as a thousandth of them all.
func size(change plan.Change) int {
	set, times := change.Want, 2
	if change.Deletes() {
		set, times = change.Have, 1
	}
	n := 0
	for _, data := range set.Data {
		n += times * max(len(say(data)), maxCharacters/maxRecords)
	}
	if balanceable(change) {
		n += 3 * maxCharacters / maxRecords // two aliases in its place, and what goes
	}
	return max(n, maxCharacters/maxRecords)
}

// typeOf reads a type as the service names it.
func typeOf(t types.RRType) (rr.Type, error) {
	if t == types.RRTypeSpf {
		return spf, nil
	}
	return rr.ParseType(string(t))
}

func typeName(t rr.Type) types.RRType {
	if t == spf {
		return types.RRTypeSpf
	}
	return types.RRType(t.String())
}

// ours reports whether a set is one that DNS knows: no alias, and no part of a routing policy.
func ours(set *types.ResourceRecordSet) bool {
	return set.AliasTarget == nil && set.SetIdentifier == nil && set.TrafficPolicyInstanceId == nil
}

// toSet is a set as the service takes it.
func toSet(set rr.Set) *types.ResourceRecordSet {
	out := &types.ResourceRecordSet{
		Name: aws.String(say(set.Name.String())), Type: typeName(set.Type), TTL: aws.Int64(int64(set.TTL)),
		ResourceRecords: make([]types.ResourceRecord, len(set.Data)),
	}
	for i, data := range set.Data {
		out.ResourceRecords[i].Value = aws.String(say(data))
	}
	return out
}

// fromSet reads a set; false when it is none that DNS knows.
func fromSet(in *types.ResourceRecordSet) (rr.Set, bool, error) {
	name, err := parseName(aws.ToString(in.Name))
	if err != nil {
		return rr.Set{}, false, err
	}
	t, err := typeOf(in.Type)
	if err != nil {
		return rr.Set{}, false, fmt.Errorf("%s: %w", name, err)
	}
	if !ours(in) || len(in.ResourceRecords) == 0 {
		return rr.Set{}, false, nil
	}
	data := make([]string, len(in.ResourceRecords))
	for i, r := range in.ResourceRecords {
		data[i] = canonical(t, aws.ToString(r.Value))
	}
	return rr.NewSet(rr.Key{Name: name, Type: t}, uint32(aws.ToInt64(in.TTL)), data...), true, nil
}

// canonical returns the canonical form of a value. What is not valid, which others may have stored all the same, is
// there and equals nothing that is ever wanted.
func canonical(t rr.Type, value string) string {
	if data, err := rr.ParseData(t, hear(withDot(t, value))); err == nil {
		return data
	}
	return fmt.Sprintf(`\# %d %s`, len(value), hex.EncodeToString([]byte(value)))
}

// withDot ends the name in a value with a dot, which the service does not ask for.
func withDot(t rr.Type, value string) string {
	field := stored()[t]
	if field == noName {
		return value
	}
	parts := strings.Fields(value)
	if field == lastField {
		field = len(parts) - 1
	}
	if field < 0 || field >= len(parts) || strings.HasSuffix(parts[field], ".") {
		return value
	}
	if t == rr.TypeNAPTR { // its strings may have spaces in them
		return strings.TrimSpace(value) + "."
	}
	parts[field] += "."
	return strings.Join(parts, " ")
}

func absolute(name string) string {
	if strings.HasSuffix(name, ".") {
		return name
	}
	return name + "."
}

// The service escapes as `\ooo`, with octal digits, what DNS escapes as `\DDD` (RFC 1035 §5.1).

// say writes the escapes of canonical text as the service reads them. Outside of quotes they are those of a name.
func say(text string) string {
	return escapes(text, func(b *strings.Builder, digits string, plain byte, quoted bool) {
		switch {
		case digits != "":
			fmt.Fprintf(b, `\%03o`, int(digits[0]-'0')*100+int(digits[1]-'0')*10+int(digits[2]-'0'))
		case quoted:
			b.WriteByte('\\')
			b.WriteByte(plain)
		default:
			fmt.Fprintf(b, `\%03o`, plain)
		}
	})
}

// hear is the reverse of say.
func hear(text string) string {
	return escapes(text, func(b *strings.Builder, digits string, plain byte, _ bool) {
		if digits == "" {
			b.WriteByte('\\')
			b.WriteByte(plain)
			return
		}
		fmt.Fprintf(b, `\%03d`, (int(digits[0]-'0')*64+int(digits[1]-'0')*8+int(digits[2]-'0'))&0xff)
	})
}

// escapes has each escape of a text written anew: either three digits, or one other character.
func escapes(text string, write func(b *strings.Builder, digits string, plain byte, quoted bool)) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			quoted = !quoted
			b.WriteByte('"')
		case text[i] != '\\' || i+1 == len(text):
			b.WriteByte(text[i])
		case i+3 < len(text) && !strings.ContainsFunc(text[i+1:i+4], func(r rune) bool { return r < '0' || r > '9' }):
			write(&b, text[i+1:i+4], 0, quoted)
			i += 3
		default:
			write(&b, "", text[i+1], quoted)
			i++
		}
	}
	return b.String()
}

// at is a place in the service's order of sets.
type at struct {
	name dnsname.Name
	t    rr.Type
}
