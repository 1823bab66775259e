package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the objects of this package.
var GroupVersion = schema.GroupVersion{Group: "dns.homelab.mortenolsen.pro", Version: "v1alpha1"}

const (
	// Finalizer keeps a DNSRecord until the server does not have its record any more.
	Finalizer = "dns.homelab.mortenolsen.pro/finalizer"

	// InUseFinalizer keeps a DNSClass for as long as DNSRecords need it, if only to be removed.
	InUseFinalizer = "dns.homelab.mortenolsen.pro/in-use"

	// AppliedAnnotation on a DNSRecord without a status says, together with the finalizer, what a server has of it or may
	// have: class, type, domain and subdomain, with spaces between. From the first status on, status.applied says so.
	AppliedAnnotation = "dns.homelab.mortenolsen.pro/applied"

	// DeletionPolicyAnnotation on a DNSRecord says what its deletion means for the server.
	DeletionPolicyAnnotation = "dns.homelab.mortenolsen.pro/deletion-policy"

	// DeletionPolicyOrphan leaves the record on the server: the object goes at once.
	DeletionPolicyOrphan = "orphan"
)

// AddToScheme makes the kinds of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	b := runtime.NewSchemeBuilder(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &DNSClass{}, &DNSClassList{}, &DNSRecord{}, &DNSRecordList{})
		metav1.AddToGroupVersion(s, GroupVersion)
		return nil
	})
	return b.AddToScheme(s)
}
