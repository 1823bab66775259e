package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the objects of this package.
var GroupVersion = schema.GroupVersion{Group: "bindy.firestoned.io", Version: "v1beta1"}

// AddToScheme makes the kinds of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	b := runtime.NewSchemeBuilder(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion,
			&ClusterBind9Provider{}, &ClusterBind9ProviderList{},
			&Bind9Cluster{}, &Bind9ClusterList{},
			&Bind9Instance{}, &Bind9InstanceList{}, &Bind9Instance{}, &Bind9InstanceList{},
			&DNSZone{}, &DNSZoneList{},
			&ARecord{}, &ARecordList{}, &AAAARecord{}, &AAAARecordList{}, &CNAMERecord{}, &CNAMERecordList{},
			&TXTRecord{}, &TXTRecordList{}, &MXRecord{}, &MXRecordList{}, &NSRecord{}, &NSRecordList{},
			&SRVRecord{}, &SRVRecordList{}, &CAARecord{}, &CAARecordList{},
			&PTRRecord{}, &PTRRecordList{},
		)
		metav1.AddToGroupVersion(s, GroupVersion)
		return nil
	})
	return b.AddToScheme(s)
}
