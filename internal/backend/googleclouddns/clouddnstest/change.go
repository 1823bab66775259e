package clouddnstest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	miekg "github.com/miekg/dns"
	"google.golang.org/api/dns/v1"
)

// create carries out a change as a whole or not at all.
func (f *Server) create(w http.ResponseWriter, r *http.Request, z *dns.ManagedZone) {
	var change dns.Change
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&change); err != nil {
		fail(w, 400, "parseError", err.Error())
		return
	}
	sets := maps.Clone(f.Sets[z.Name])
	if status, reason, message := f.CarryOut(z, sets, &change); status != 0 {
		fail(w, status, reason, message)
		return
	}
	f.Sets[z.Name] = sets
	change.Id, change.Status = fmt.Sprint(len(f.changes)+1), "pending"
	f.changes[change.Id], f.polls[change.Id] = &change, f.Async
	say(w, &change)
	if f.Async == 0 {
		change.Status = "done"
	}
}

// CarryOut makes a change of sets, or says why not.
func (f *Server) CarryOut(z *dns.ManagedZone, sets map[string]*dns.ResourceRecordSet,
	change *dns.Change) (status int, reason, message string) {
	octets := 0
	for _, set := range slices.Concat(change.Additions, change.Deletions) {
		for _, data := range set.Rrdatas {
			octets += len(data)
		}
	}
	switch n, m := len(change.Additions), len(change.Deletions); {
	case n+m == 0:
		return 400, "required", "The 'entity.change' is empty."
	case n > 1000 || m > 1000 || octets > 100_000:
		return 400, "invalid", "The change is too large."
	}
	for i, set := range change.Deletions {
		there, at := sets[set.Name+" "+set.Type], fmt.Sprintf("'entity.change.deletions[%d]'", i)
		switch {
		case there == nil:
			return 404, "notFound", "The " + at + " resource named '" + set.Name + " (" + set.Type + ")' does not exist."
		case there.Ttl != set.Ttl || !slices.Equal(there.Rrdatas, set.Rrdatas) ||
			(there.RoutingPolicy == nil) != (set.RoutingPolicy == nil):
			return 412, "conditionNotMet", "Precondition not met for " + at
		}
		delete(sets, set.Name+" "+set.Type)
	}
	names := map[string][]string{}
	for _, set := range sets {
		names[set.Name] = append(names[set.Name], set.Type)
	}
	for i, set := range change.Additions {
		at := fmt.Sprintf("'entity.change.additions[%d]'", i)
		switch why := invalid(z, set); {
		case why != "":
			return 400, "invalid", "Invalid value for " + at + ": " + why
		case sets[set.Name+" "+set.Type] != nil:
			return 409, "alreadyExists", "The resource " + at + " named '" + set.Name + " (" + set.Type + ")' already exists"
		case set.Type == "CNAME" && len(names[set.Name]) > 0, slices.Contains(names[set.Name], "CNAME"):
			return 400, "cnameResourceRecordSetConflict", "The resource record set " + at +
				" is invalid because a CNAME is alone at its name."
		case f.Quota > 0 && len(sets) >= f.Quota:
			return 403, "quotaExceeded", "The resource record sets of the zone exceed the quota."
		}
		names[set.Name] = append(names[set.Name], set.Type)
		sets[set.Name+" "+set.Type] = set
	}
	for _, typ := range []string{"NS", "SOA"} {
		if sets[z.DnsName+" "+typ] == nil {
			return 400, "invalidZoneApex", "The zone needs an SOA and NS at its apex."
		}
	}
	return 0, "", ""
}

// invalid says why a set cannot be, in the service's own words or not.
func invalid(z *dns.ManagedZone, set *dns.ResourceRecordSet) string {
	known := []string{"A", "AAAA", "CAA", "CNAME", "DNSKEY", "DS", "HTTPS", "IPSECKEY", "MX", "NAPTR", "NS", "PTR", "SOA",
		"SPF", "SRV", "SSHFP", "SVCB", "TLSA", "TXT"}
	switch {
	case !strings.HasSuffix(set.Name, "."), set.Name != z.DnsName && !strings.HasSuffix(set.Name, "."+z.DnsName):
		return "the name is not in the zone"
	case !slices.Contains(known, set.Type):
		return "type"
	case set.Ttl < 0 || set.Ttl > 1<<31-1:
		return "ttl"
	case len(set.Rrdatas) == 0 || len(set.Rrdatas) > 100:
		return "rrdata"
	}
	for _, data := range set.Rrdatas {
		record, err := miekg.NewRR(fmt.Sprintf("$ORIGIN .\n%s %d IN %s %s", set.Name, set.Ttl, set.Type, data))
		if err != nil || record == nil || set.Type == "TXT" && (!strings.HasPrefix(data, `"`) || len(data) > 4000) {
			return "rrdata"
		}
	}
	return ""
}
