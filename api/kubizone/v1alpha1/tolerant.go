package v1alpha1

import "k8s.io/apimachinery/pkg/util/json"

// A schema that says less than ours may have let in values of other types. A spec that
// holds one decodes, and says in Problems what could not be read; of a status, which is
// the operator's own, Unread names what is to be removed.

// UnmarshalJSON reads any JSON value and keeps in Unread what is of a wrong type.
func (s *ZoneSpec) UnmarshalJSON(data []byte) error {
	type plain ZoneSpec
	var read plain
	if json.Unmarshal(data, &read) == nil {
		*s = ZoneSpec(read)
		return nil
	}
	*s = ZoneSpec{}
	return s.Unread.read(data, s.fields())
}

// Problems returns a clause for everything in the spec that could not be read.
func (s ZoneSpec) Problems() []string { return s.Unread.misfits("the spec", s.fields()) }

func (s *ZoneSpec) fields() []field {
	return []field{
		{"domainName", "a string", &s.DomainName},
		{"zoneRef", "an object with the strings name and namespace", &s.ZoneRef},
		{"delegations", "a list of objects", &s.Delegations},
		{"ttl", "a whole number", &s.TTL},
		{"refresh", "a whole number", &s.Refresh},
		{"retry", "a whole number", &s.Retry},
		{"expire", "a whole number", &s.Expire},
		{"negativeResponseCache", "a whole number", &s.NegativeResponseCache},
		{"mname", "a string", &s.MName},
		{"rname", "a string", &s.RName},
		{"reverse", "an object with the list from and the string conflict", &s.Reverse},
		{"backendRefs", "a list of objects with the string name", &s.BackendRefs},
	}
}

// UnmarshalJSON reads any JSON value and keeps in Unread what is of a wrong type.
func (s *RecordSpec) UnmarshalJSON(data []byte) error {
	type plain RecordSpec
	var read plain
	if json.Unmarshal(data, &read) == nil {
		*s = RecordSpec(read)
		return nil
	}
	*s = RecordSpec{}
	return s.Unread.read(data, s.fields())
}

// Problems returns a clause for everything in the spec that could not be read.
func (s RecordSpec) Problems() []string { return s.Unread.misfits("the spec", s.fields()) }

func (s *RecordSpec) fields() []field {
	return []field{
		{"domainName", "a string", &s.DomainName},
		{"zoneRef", "an object with the strings name and namespace", &s.ZoneRef},
		{"type", "a string", &s.Type},
		{"class", "a string", &s.Class},
		{"ttl", "a whole number", &s.TTL},
		{"rdata", "a string", &s.RData},
	}
}

// UnmarshalJSON reads any JSON value and keeps in Unread what is of a wrong type.
func (s *ZoneStatus) UnmarshalJSON(data []byte) error {
	type plain ZoneStatus
	var read plain
	if json.Unmarshal(data, &read) == nil {
		*s = ZoneStatus(read)
		return nil
	}
	*s = ZoneStatus{}
	return s.Unread.read(data, []field{
		{name: "entries", into: &s.Entries},
		{name: "fqdn", into: &s.FQDN},
		{name: "hash", into: &s.Hash},
		{name: "serial", into: &s.Serial},
		{name: "serialCeiling", into: &s.SerialCeiling},
		{name: "entryCount", into: &s.EntryCount},
		{name: "slices", into: &s.Slices},
		{name: "backends", into: &s.Backends},
		{name: "held", into: &s.Held},
		{name: "observedGeneration", into: &s.ObservedGeneration},
		{name: "conditions", into: &s.Conditions},
	})
}

// UnmarshalJSON reads any JSON value and keeps in Unread what is of a wrong type.
func (s *RecordStatus) UnmarshalJSON(data []byte) error {
	type plain RecordStatus
	var read plain
	if json.Unmarshal(data, &read) == nil {
		*s = RecordStatus(read)
		return nil
	}
	*s = RecordStatus{}
	return s.Unread.read(data, []field{
		{name: "fqdn", into: &s.FQDN},
		{name: "observedGeneration", into: &s.ObservedGeneration},
		{name: "conditions", into: &s.Conditions},
	})
}
