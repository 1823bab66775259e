package draft

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/rr"
)

// Which names the kinds of bindy take; their schemas say the same.
var (
	bindyHost   = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+$`)
	bindyTarget = regexp.MustCompile(`^(\.|([a-z0-9_]([a-z0-9_/-]{0,61}[a-z0-9_])?\.)+)$`)
	bindyOwner  = regexp.MustCompile(
		`^(@|\*|(\*\.)?([a-z0-9_]([a-z0-9_/-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_/-]{0,61}[a-z0-9_])?)$`)
	bindyMailbox = regexp.MustCompile(
		`^[a-z0-9_]([a-z0-9_+-]{0,61}[a-z0-9_])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*\.$`)
)

// maxTexts is how many strings a TXTRecord may have.
const maxTexts = 256

// bindyZone writes the DNSZone, whose name servers are those of its apex.
func (d *drafter) bindyZone(servers rr.Set) {
	origin := d.zone.Origin.String()
	if !bindyHost.MatchString(origin) {
		d.err = fmt.Errorf("no DNSZone can be %s: its name has only letters, digits and hyphens; use --as kubizone", origin)
		return
	}
	d.head(v1beta1.GroupVersion.String(), v1beta1.KindZone, d.Namespace, d.Name)
	d.line(1, "zoneName", strings.TrimSuffix(origin, "."))
	if d.Cluster != "" {
		d.line(1, "clusterRef", d.Cluster)
	}
	soa := d.zone.SOA
	if !d.zone.HasSOA() {
		d.changed("the zone "+origin, "it has no SOA, and a DNSZone needs one: write its primary name server into soa")
	}
	ttl := soa.TTL
	if len(servers.Data) > 0 {
		ttl = servers.TTL
	}
	d.number(1, "ttl", min(ttl, math.MaxInt32))
	d.bindySOA(soa)
	var hosts []string
	for _, data := range servers.Data {
		switch {
		case data == soa.MName.String():
		case !bindyHost.MatchString(data):
			d.lose(servers.Key().String()+" "+data, "a name server of a DNSZone has a name of letters, digits and hyphens")
		default:
			hosts = append(hosts, data)
		}
	}
	if d.zone.HasSOA() && !slices.Contains(servers.Data, soa.MName.String()) {
		d.changed("NS of "+origin, "a DNSZone has the primary name server of its SOA, %s, as a name server; it was none",
			soa.MName)
	}
	if len(hosts) > 0 {
		d.text = append(d.text, "  nameServers:\n"...)
	}
	for _, host := range hosts {
		d.text = append(d.text, "  - hostname: "...)
		d.text = append(AppendScalar(d.text, host), '\n')
		d.out.Records++
	}
}

func (d *drafter) bindySOA(soa rr.SOA) {
	d.text = append(d.text, "  soa:\n"...)
	if !d.zone.HasSOA() {
		return
	}
	origin := "SOA of " + d.zone.Origin.String()
	if !bindyHost.MatchString(soa.MName.String()) {
		d.err = fmt.Errorf("no DNSZone can have %s in its SOA: a primary name server has a name of letters, digits and "+
			"hyphens; use --as kubizone", soa.MName)
		return
	}
	mailbox := soa.RName.String()
	if !bindyMailbox.MatchString(mailbox) {
		mailbox = "hostmaster." + d.zone.Origin.String()
		d.changed(origin, "its mailbox %s is not possible in a DNSZone, whose mailboxes have no dot before the @; it "+
			"becomes %s", soa.RName, mailbox)
	}
	d.line(2, "primaryNameServer", soa.MName.String())
	d.line(2, "adminEmail", mailbox)
	for _, f := range []struct {
		key   string
		value uint32
	}{{"ttl", soa.TTL}, {"serial", soa.Serial}, {"refresh", soa.Refresh}, {"retry", soa.Retry}, {"expire", soa.Expire},
		{"negativeTtl", soa.Minimum}} {
		if f.value > math.MaxInt32 && f.key != "serial" {
			d.changed(origin, "its %s is %d; it is reduced to the maximum of a DNSZone, %d", f.key, f.value, math.MaxInt32)
			f.value = math.MaxInt32
		}
		d.number(2, f.key, f.value)
	}
}

// bindySet writes the objects of a set: one for all addresses of a name, else one for each record.
func (d *drafter) bindySet(s rr.Set) {
	if s.Type == rr.TypeNS && s.Name == d.zone.Origin {
		return // the DNSZone has them
	}
	fields, known := d.fields[s.Type]
	owner := s.Name.In(d.zone.Origin)
	for _, data := range s.Data {
		what := s.Key().String() + " " + data
		switch {
		case !known:
			d.lose(what, "bindy has no kind for %s records; import them with --as kubizone", s.Type)
		case !bindyOwner.MatchString(owner):
			d.lose(what, "bindy accepts only names of letters, digits, underscores, hyphens and slashes")
		}
	}
	if !known || !bindyOwner.MatchString(owner) {
		return
	}
	if s.Type == rr.TypeA || s.Type == rr.TypeAAAA {
		key := map[rr.Type]string{rr.TypeA: "ipv4Addresses", rr.TypeAAAA: "ipv6Addresses"}[s.Type]
		d.bindyHead(s, owner, "")
		d.list(key, s.Data)
		d.flush(d.Namespace)
		d.out.Objects++
		d.out.Records += len(s.Data)
		return
	}
	for _, data := range s.Data {
		begin := len(d.text)
		d.bindyHead(s, owner, data)
		if why := fields(d, data); why != "" {
			d.text = d.text[:begin]
			d.lose(s.Key().String()+" "+data, "%s", why)
			continue
		}
		d.flush(d.Namespace)
		d.out.Objects++
		d.out.Records++
	}
}

func (d *drafter) bindyHead(s rr.Set, owner, data string) {
	d.head(v1beta1.GroupVersion.String(), s.Type.String()+"Record", d.Namespace,
		d.namer.name(d.zone.Origin, s.Name, s.Type, data))
	d.line(1, "zoneRef", d.Name)
	d.line(1, "name", owner)
	d.number(1, "ttl", s.TTL)
}

func (d *drafter) list(key string, values []string) {
	d.text = append(append(d.text, "  "...), key...)
	d.text = append(d.text, ":\n"...)
	for _, value := range values {
		d.text = append(AppendScalar(append(d.text, "  - "...), value), '\n')
	}
}

// bindyFields writes data into the fields of a kind, or returns why it cannot be there.
func bindyFields() map[rr.Type]func(d *drafter, data string) (why string) {
	target := func(key string, numbers ...string) func(*drafter, string) string {
		return func(d *drafter, data string) string {
			words := strings.Fields(data)
			for i, number := range numbers {
				d.text = append(d.text, "  "+number+": "+words[i]+"\n"...)
			}
			name := words[len(numbers)]
			if !bindyTarget.MatchString(name) {
				return "bindy accepts only names of letters, digits, underscores, hyphens and slashes"
			}
			d.line(1, key, name)
			return ""
		}
	}
	return map[rr.Type]func(*drafter, string) string{
		rr.TypeA: nil, rr.TypeAAAA: nil, // one object for a set
		rr.TypeCNAME: target("target"), rr.TypePTR: target("target"), rr.TypeNS: target("nameserver"),
		rr.TypeMX:  target("mailServer", "priority"),
		rr.TypeSRV: target("target", "priority", "weight", "port"),
		rr.TypeTXT: (*drafter).bindyText, rr.TypeCAA: (*drafter).bindyCAA,
	}
}

func (d *drafter) bindyText(data string) string {
	texts, err := rr.Strings(data)
	if err != nil {
		return err.Error()
	}
	if len(texts) > maxTexts {
		return "a TXTRecord has at most 256 strings"
	}
	for _, text := range texts {
		if why := unwritable(text); why != "" {
			return why
		}
	}
	d.list("text", texts)
	return ""
}

func (d *drafter) bindyCAA(data string) string {
	words := strings.SplitN(data, " ", 3)
	value, err := rr.Strings(words[2])
	if err != nil || len(value) != 1 {
		return "its value cannot be read"
	}
	if why := unwritable(value[0]); why != "" {
		return why
	}
	d.text = append(d.text, "  flags: "+words[0]+"\n"...)
	d.line(1, "tag", words[1])
	d.line(1, "value", value[0])
	return ""
}

// unwritable returns why a text cannot be a value of an object.
func unwritable(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "it has octets that are not UTF-8, as the text of an object must be"
	case strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "it has control characters, which bindy does not accept"
	}
	return ""
}
