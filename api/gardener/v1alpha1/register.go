package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the objects of this package.
var GroupVersion = schema.GroupVersion{Group: "extensions.gardener.cloud", Version: "v1alpha1"}

const (
	// Finalizer keeps a DNSRecord until its record set is gone.
	Finalizer = "extensions.gardener.cloud/dnsrecord"

	// OperationAnnotation on a DNSRecord says what somebody wants to be done about it now.
	OperationAnnotation = "gardener.cloud/operation"

	// TimestampAnnotation says when somebody has asked for that.
	TimestampAnnotation = "gardener.cloud/timestamp"

	// StackAnnotation on a DNSRecord says which addresses a CNAME to a load balancer stands for.
	StackAnnotation = "dns.gardener.cloud/ip-stack"

	// RoleLabel on a Namespace says what it is there for.
	RoleLabel = "gardener.cloud/role"

	// RoleShoot is the role of the Namespace of a shoot's control plane.
	RoleShoot = "shoot"

	// ForceDeletionAnnotation on a Shoot, true, says that it goes whatever is left behind; on a DNSRecord, that this one
	// does.
	ForceDeletionAnnotation = "confirmation.gardener.cloud/force-deletion"
)

// Values of OperationAnnotation.
const (
	OperationReconcile    = "reconcile"
	OperationRestore      = "restore"
	OperationMigrate      = "migrate"
	OperationWaitForState = "wait-for-state"
)

// Values of StackAnnotation.
const (
	StackIPv4 = "ipv4" // the default
	StackIPv6 = "ipv6"
	StackDual = "dual-stack"
)

// AddToScheme makes the kinds of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	b := runtime.NewSchemeBuilder(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &DNSRecord{}, &DNSRecordList{})
		metav1.AddToGroupVersion(s, GroupVersion)
		return nil
	})
	return b.AddToScheme(s)
}
