// Package v1alpha1 has the answers of the operator's read API, inspect.zonefold.dev: what the operator knows about
// an object beyond its status. None of it is stored, and all of it is read-only.
//
// The path of an object is that of the object itself, in this group: namespaces/NAMESPACE/records/NAME. Kinds of other
// groups than kubi.zone have their full names: namespaces/NAMESPACE/dnszones.bindy.firestoned.io/NAME. Whoever may get
// the object may get the answer.
//
// +kubebuilder:skip
package v1alpha1
