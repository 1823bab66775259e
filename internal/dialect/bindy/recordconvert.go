package bindy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A Record is what the kinds of records have in common.
type Record struct {
	ID     zone.ID
	Object Object
	Meta   *v1beta1.RecordMeta
	Status *v1beta1.RecordStatus
	Type   rr.Type
	Data   func() ([]string, error) // rdata in presentation form, each value once
}

// RecordOf reads an object of a kind of records; false for any other.
func RecordOf(o Object) (Record, bool) {
	r := Record{Object: o}
	one := func(format string, values ...any) func() ([]string, error) {
		return func() ([]string, error) { return []string{fmt.Sprintf(format, values...)}, nil }
	}
	switch v := o.(type) {
	case *v1beta1.ARecord:
		r.Meta, r.Status, r.Type, r.Data = &v.Spec.RecordMeta, &v.Status, rr.TypeA, addressTexts(v.Spec.Addresses)
	case *v1beta1.AAAARecord:
		r.Meta, r.Status, r.Type, r.Data = &v.Spec.RecordMeta, &v.Status, rr.TypeAAAA, addressTexts(v.Spec.Addresses)
	case *v1beta1.CNAMERecord:
		r.Meta, r.Status, r.Type, r.Data = &v.Spec.RecordMeta, &v.Status, rr.TypeCNAME, one("%s", v.Spec.Target)
	case *v1beta1.TXTRecord:
		r.Meta, r.Status, r.Type, r.Data = &v.Spec.RecordMeta, &v.Status, rr.TypeTXT, txtData(v.Spec.Text)
	case *v1beta1.MXRecord:
		r.Meta, r.Status, r.Type, r.Data = &v.Spec.RecordMeta, &v.Status, rr.TypeMX,
			one("%d %s", v.Spec.Priority, v.Spec.MailServer)
	case *v1beta1.NSRecord:
		r.Meta, r.Status, r.Type, r.Data = &v.Spec.RecordMeta, &v.Status, rr.TypeNS, one("%s", v.Spec.Nameserver)
	case *v1beta1.SRVRecord:
		r.Meta, r.Status, r.Type = &v.Spec.RecordMeta, &v.Status, rr.TypeSRV
		r.Data = one("%d %d %d %s", v.Spec.Priority, v.Spec.Weight, v.Spec.Port, v.Spec.Target)
	case *v1beta1.CAARecord:
		r.Meta, r.Status, r.Type = &v.Spec.RecordMeta, &v.Status, rr.TypeCAA
		r.Data = one("%d %s %s", v.Spec.Flags, v.Spec.Tag, quoted(v.Spec.Value))
	case *v1beta1.PTRRecord:
		r.Meta, r.Status, r.Type, r.Data = &v.Spec.RecordMeta, &v.Status, rr.TypePTR, one("%s", v.Spec.Target)
	default:
		return Record{}, false
	}
	r.ID = RecordID(r.Type, o.GetNamespace(), o.GetName())
	return r, true
}

// RecordID names a record in the core.
func RecordID(t rr.Type, namespace, name string) zone.ID {
	return zone.ID{Kind: t.String() + "Record", Namespace: namespace, Name: name}
}

func addressTexts(addresses func() ([]netip.Addr, error)) func() ([]string, error) {
	return func() ([]string, error) {
		found, err := addresses()
		texts := make([]string, len(found))
		for i, ip := range found {
			texts[i] = ip.String()
		}
		return texts, err
	}
}

// txtData makes one TXT record of several strings; those of more than 255 octets become several.
func txtData(texts []string) func() ([]string, error) {
	return func() ([]string, error) {
		if len(texts) == 0 {
			return nil, fmt.Errorf("spec.text is missing")
		}
		parts := make([]string, len(texts))
		for i, text := range texts {
			parts[i] = rr.Text(text)
		}
		return []string{strings.Join(parts, " ")}, nil
	}
}

// quoted writes text as one quoted string of a master file (RFC 1035 §5.1).
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03d`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// ConvertRecord turns a record into a claim on the zone that is its home. What cannot be understood makes it Invalid.
func ConvertRecord(r Record, home Home) zone.Claim {
	out := zone.Claim{
		ID: r.ID, Created: r.Object.GetCreationTimestamp().Time, Where: zone.Where{Ref: home.Zone},
		Type: r.Type, Invalid: home.Refusal, Warnings: home.Notes,
	}
	refuse := func(reason zone.Reason, format string, args ...any) {
		if out.Invalid == nil || out.Invalid == home.Refusal {
			out.Invalid = &zone.Refusal{Reason: reason, Message: fmt.Sprintf("%s ", r.ID) + fmt.Sprintf(format, args...)}
		}
	}
	if err := convertOwner(&out.Where, string(r.Meta.Name)); err != nil {
		refuse(zone.InvalidName, "has an invalid name: %v; correct it.", err)
	}
	data, err := r.Data()
	if err != nil {
		refuse(zone.InvalidSpec, "cannot be read: %v; correct it.", err)
	}
	for _, text := range data {
		canonical, err := rr.ParseData(r.Type, text)
		if err != nil {
			refuse(zone.InvalidData, "has data that cannot be read: %v; correct it.", err)
			continue
		}
		if !slices.Contains(out.Data, canonical) {
			out.Data = append(out.Data, canonical)
		}
	}
	slices.Sort(out.Data)
	if r.Meta.TTL != nil {
		ttl, err := seconds("ttl", int64(*r.Meta.TTL))
		if err != nil {
			refuse(zone.InvalidSpec, "cannot be read: %v; correct it.", err)
		}
		out.TTL = &ttl
	}
	return out
}

// convertOwner reads the name of a record: relative to its zone, or absolute with a dot at its end.
func convertOwner(where *zone.Where, name string) (err error) {
	if strings.HasSuffix(name, ".") && !strings.HasSuffix(name, `\.`) {
		if where.Name, err = dnsname.Parse(name); err == nil {
			err = dnsname.CheckOwner(where.Name)
		}
	} else if where.Relative, err = dnsname.ParseRelative(name); err == nil {
		err = dnsname.CheckRelativeOwner(where.Relative)
	}
	if err != nil {
		where.Name, where.Relative = dnsname.Name{}, dnsname.Relative{}
	}
	return err
}

// An Object is any object of the API server.
type Object interface {
	metav1.Object
	runtime.Object
}

// keyOf names an object.
func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}
