package manifest

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// DNSZone is the kind of zones of bindy. Its kinds of records end in "Record".
const DNSZone = bindy.KindZone

// bindyKinds are the kinds of bindy.firestoned.io.
func bindyKinds() []kind {
	var out []kind
	for _, empty := range []kubernetesObject{
		&bindy.ClusterBind9Provider{}, &bindy.Bind9Cluster{}, &bindy.Bind9Instance{}, &bindy.DNSZone{},
		&bindy.ARecord{}, &bindy.AAAARecord{}, &bindy.CNAMERecord{}, &bindy.TXTRecord{},
		&bindy.MXRecord{}, &bindy.NSRecord{}, &bindy.SRVRecord{}, &bindy.CAARecord{},
		&bindy.PTRRecord{},
	} {
		t := reflect.TypeOf(empty).Elem()
		decode := func(text []byte, o *Object) (metav1.Object, []error, error) {
			v, _ := reflect.New(t).Interface().(kubernetesObject)
			unknown, err := kjson.UnmarshalStrict(text, v)
			if err == nil {
				o.Bindy = v
			}
			return v, unknown, err
		}
		out = append(out, newKind(bindy.GroupVersion.String(), t.Name(), t.Name() == bindy.KindProvider, decode))
	}
	return out
}

// OfBindy reports whether the object is of a kind of bindy.firestoned.io.
func (r Ref) OfBindy() bool {
	_, known := kindOf(bindy.GroupVersion.String(), r.Kind)
	return known
}
