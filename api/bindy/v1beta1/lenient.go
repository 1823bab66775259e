package v1beta1

import "k8s.io/apimachinery/pkg/util/json"

// A status that another operator wrote may hold what ours cannot read, a time that
// is no time for example. Such a field is empty here, and the operator writes it
// again: one object that does not decode would fail the list and the watch of all.

// lenient reads what it can of a status into a value.
func lenient(data []byte, into any) {
	if json.Unmarshal(data, into) == nil {
		return
	}
	var fields map[string]any
	if json.Unmarshal(data, &fields) != nil {
		return
	}
	for name, value := range fields {
		one, err := json.Marshal(map[string]any{name: value})
		if err == nil {
			_ = json.Unmarshal(one, into) // what it cannot read stays as it is
		}
	}
}

// UnmarshalJSON reads what can be read.
func (s *ClusterBind9ProviderStatus) UnmarshalJSON(data []byte) error {
	type plain ClusterBind9ProviderStatus
	lenient(data, (*plain)(s))
	return nil
}

// UnmarshalJSON reads what can be read.
func (s *Bind9ClusterStatus) UnmarshalJSON(data []byte) error {
	type plain Bind9ClusterStatus
	lenient(data, (*plain)(s))
	return nil
}

// UnmarshalJSON reads what can be read.
func (s *Bind9InstanceStatus) UnmarshalJSON(data []byte) error {
	type plain Bind9InstanceStatus
	lenient(data, (*plain)(s))
	return nil
}

// UnmarshalJSON reads what can be read.
func (s *DNSZoneStatus) UnmarshalJSON(data []byte) error {
	type plain DNSZoneStatus
	lenient(data, (*plain)(s))
	return nil
}

// UnmarshalJSON reads what can be read.
func (s *RecordStatus) UnmarshalJSON(data []byte) error {
	type plain RecordStatus
	lenient(data, (*plain)(s))
	return nil
}
