package manifest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	homelab "github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

// Kinds of dns.homelab.mortenolsen.pro.
const (
	DNSClass  = "DNSClass"
	DNSRecord = "DNSRecord"
)

// homelabKinds are the kinds of dns.homelab.mortenolsen.pro.
func homelabKinds() []kind {
	version := homelab.GroupVersion.String()
	return []kind{
		newKind(version, DNSClass, true, func(text []byte, o *Object) (metav1.Object, []error, error) {
			var v homelab.DNSClass
			unknown, err := kjson.UnmarshalStrict(text, &v)
			if err == nil {
				o.Homelab = &v
			}
			return &v, unknown, err
		}),
		newKind(version, DNSRecord, false, func(text []byte, o *Object) (metav1.Object, []error, error) {
			var v homelab.DNSRecord
			unknown, err := kjson.UnmarshalStrict(text, &v)
			if err == nil {
				o.Homelab = &v
			}
			return &v, unknown, err
		}),
	}
}

// OfHomelab reports whether the object is of a kind of dns.homelab.mortenolsen.pro.
func (r Ref) OfHomelab() bool { return r.Kind == DNSClass || r.Kind == DNSRecord }
