package bindy

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// RecordKinds are an empty object of each kind of record.
func RecordKinds() []client.Object {
	return []client.Object{
		&v1beta1.ARecord{}, &v1beta1.AAAARecord{}, &v1beta1.CNAMERecord{}, &v1beta1.TXTRecord{},
		&v1beta1.MXRecord{}, &v1beta1.NSRecord{}, &v1beta1.SRVRecord{}, &v1beta1.CAARecord{},
		&v1beta1.PTRRecord{},
	}
}

// Served are the kinds of records that the API server has. The existing Bindy knows no PTRRecord, and where its
// definitions are installed there are none to be had.
func Served(mapper meta.RESTMapper) ([]client.Object, error) {
	_, err := mapper.RESTMapping(v1beta1.GroupVersion.WithKind("PTRRecord").GroupKind(), v1beta1.GroupVersion.Version)
	if err != nil && !meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("asking whether there are PTRRecords: %w", err)
	}
	return slices.DeleteFunc(RecordKinds(), func(o client.Object) bool {
		_, pointer := o.(*v1beta1.PTRRecord)
		return pointer && err != nil
	}), nil
}
