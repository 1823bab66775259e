package manifest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	gardener "github.com/zonefold/zonefold/api/gardener/v1alpha1"
)

// GardenerRecord is what DNSRecords of Gardener are called, to tell them from those of dns.homelab.mortenolsen.pro.
const GardenerRecord = DNSRecord + ".extensions.gardener.cloud"

// gardenerKind is that of DNSRecords of Gardener. Other kinds of its group are others' to judge.
func gardenerKind() kind {
	k := newKind(gardener.GroupVersion.String(), DNSRecord, false,
		func(text []byte, o *Object) (metav1.Object, []error, error) {
			var v gardener.DNSRecord
			unknown, err := kjson.UnmarshalStrict(text, &v)
			if err == nil {
				o.Gardener = &v
			}
			return &v, unknown, err
		})
	k.called = GardenerRecord
	return k
}

// OfGardener reports whether the object is a DNSRecord of Gardener.
func (r Ref) OfGardener() bool { return r.Kind == GardenerRecord }

// Zoneless reports whether what becomes of the object is sets for a server, and no zone.
func (r Ref) Zoneless() bool { return r.OfHomelab() || r.OfGardener() }
