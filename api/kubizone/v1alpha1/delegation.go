package v1alpha1

import (
	"fmt"
	"slices"
)

// Delegation is a rule by which a zone adopts records and sub-zones. What it
// says besides its known fields is kept and not dropped, so that a misspelt
// restriction is seen and the rule grants nothing, instead of everything.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Delegation struct {
	// The rule is for objects of this namespace. Together with namespaces;
	// without both, for objects of any namespace.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// The rule is for objects of these namespaces and of namespace.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4096
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`

	// Patterns of the names of sub-zones that the rule allows. Default: none.
	// A pattern is absolute with a trailing dot, else relative to the zone; `@`
	// is the zone's own name. A leading `*` stands for one or more labels, a `*`
	// elsewhere for exactly one; `ns*` matches within a label.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4096
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +optional
	Zones []string `json:"zones,omitempty"`

	// The records that the rule allows. Default: none.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4096
	// +optional
	Records []RecordDelegation `json:"records,omitempty"`

	// Unread is what could not be read. A rule where it is not empty grants
	// nothing.
	Unread Unread `json:"-"`
}

// RecordDelegation allows records by name and type.
//
// +kubebuilder:pruning:PreserveUnknownFields
type RecordDelegation struct {
	// Pattern of the names, as in zones. The zone's own name is matched by `@`
	// (or by a pattern that spells it), never by `*`; a wildcard name only by a
	// pattern with a leading `*`.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Pattern string `json:"pattern"`

	// The record types that are allowed. Default: every type. A record of a
	// type that is listed holds no more of its name than the records of this
	// type; other records hold the whole name for their namespace.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4096
	// +optional
	Types []DelegatedType `json:"types,omitempty"`

	// Unread is what could not be read. A rule where it is not empty grants
	// nothing.
	Unread Unread `json:"-"`
}

// AllNamespaces returns the namespaces that the rule is for: namespace and
// namespaces united. None means any namespace.
func (d Delegation) AllNamespaces() []string {
	if d.Namespace == "" || slices.Contains(d.Namespaces, d.Namespace) {
		return d.Namespaces
	}
	return append([]string{d.Namespace}, d.Namespaces...)
}

// Problems returns a sentence for everything in the rule that could not be read,
// in a stable order. A rule with problems must grant nothing.
func (d Delegation) Problems() []string {
	problems := d.Unread.problems(d.fields())
	for i := range d.Records {
		r := &d.Records[i]
		for _, p := range r.Unread.problems(r.fields()) {
			problems = append(problems, fmt.Sprintf("records[%d]: %s", i, p))
		}
	}
	return problems
}

func (d *Delegation) fields() []field {
	return []field{
		{"namespace", "a string", &d.Namespace},
		{"namespaces", "a list of strings", &d.Namespaces},
		{"zones", "a list of strings", &d.Zones},
		{"records", "a list of objects", &d.Records},
	}
}

func (d *RecordDelegation) fields() []field {
	return []field{
		{"pattern", "a string", &d.Pattern},
		{"types", "a list of strings", &d.Types},
	}
}

// UnmarshalJSON reads any JSON value and keeps in Unread what is unknown or of
// a wrong type. It fails only on what is no JSON.
func (d *Delegation) UnmarshalJSON(data []byte) error {
	*d = Delegation{}
	return d.Unread.read(data, d.fields())
}

// MarshalJSON writes the known fields, and beside them what could not be read
// when the rule was read.
func (d Delegation) MarshalJSON() ([]byte, error) {
	type known Delegation
	return d.Unread.write(known(d))
}

// UnmarshalJSON reads any JSON value and keeps in Unread what is unknown or of
// a wrong type. It fails only on what is no JSON.
func (d *RecordDelegation) UnmarshalJSON(data []byte) error {
	*d = RecordDelegation{}
	return d.Unread.read(data, d.fields())
}

// MarshalJSON writes the known fields, and beside them what could not be read
// when the rule was read.
func (d RecordDelegation) MarshalJSON() ([]byte, error) {
	type known struct {
		Pattern string          `json:"pattern,omitempty"`
		Types   []DelegatedType `json:"types,omitempty"`
	}
	return d.Unread.write(known{d.Pattern, d.Types})
}
