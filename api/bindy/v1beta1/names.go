package v1beta1

// Kinds of the fleet, as they stand in owner references and in ManagedByLabel.
const (
	KindProvider = "ClusterBind9Provider"
	KindCluster  = "Bind9Cluster"
	KindInstance = "Bind9Instance"
	KindZone     = "DNSZone"
)

// Labels that the operator writes on the clusters and instances that it makes,
// and on everything below them. A Bind9Instance made by hand carries its own, by
// which a DNSZone may select it.
const (
	// ManagedByLabel is the kind of the object that made this one:
	// ClusterBind9Provider or Bind9Cluster.
	ManagedByLabel = "bindy.firestoned.io/managed-by"
	// ClusterLabel is the name of the cluster (or provider) that the object belongs to.
	ClusterLabel = "bindy.firestoned.io/cluster"
	// RoleLabel is the canonical role: primary or secondary.
	RoleLabel = "bindy.firestoned.io/role"
)

// Labels of Deployments, Pods, Services and so on, and their values.
const (
	AppLabel       = "app"
	AppValue       = "bind9"
	InstanceLabel  = "instance"
	ClusterOfLabel = "cluster"

	NameLabel      = "app.kubernetes.io/name"
	NameValue      = "bind9"
	AppInstance    = "app.kubernetes.io/instance"
	ComponentLabel = "app.kubernetes.io/component"
	// ComponentServer is the component of what an instance has, ComponentCluster
	// of what the instances of a cluster share.
	ComponentServer  = "dns-server"
	ComponentCluster = "dns-cluster"
	AppManagedBy     = "app.kubernetes.io/managed-by"
	AppManagedValue  = "zonefold"
	// PartOfLabel selects everything that the operator makes from a Bind9Instance.
	PartOfLabel = "app.kubernetes.io/part-of"
	PartOfValue = "bindy"
)

// Annotations.
const (
	// InstanceIndexAnnotation is the number in the name of an instance that a
	// cluster made.
	InstanceIndexAnnotation = "bindy.firestoned.io/instance-index"
	// ReconcileTriggerAnnotation makes the operator look at an object again when
	// its value changes.
	ReconcileTriggerAnnotation = "bindy.firestoned.io/reconcile-trigger"
	// AllowZoneNamespacesAnnotation on a Bind9Instance lists the namespaces, with
	// commas or as `*`, whose DNSZones may select it. Its own always may.
	AllowZoneNamespacesAnnotation = "bindy.firestoned.io/allow-zone-namespaces"

	// RNDCCreatedAtAnnotation on the key Secret: when the key in use was made, RFC 3339.
	RNDCCreatedAtAnnotation = "bindy.firestoned.io/rndc-created-at"
	// RNDCRotateAtAnnotation on the key Secret: when the key is to be replaced, RFC 3339.
	RNDCRotateAtAnnotation = "bindy.firestoned.io/rndc-rotate-at"
	// RNDCRotationCountAnnotation on the key Secret: how often the key was replaced.
	RNDCRotationCountAnnotation = "bindy.firestoned.io/rndc-rotation-count"
	// RNDCSwitchedAtAnnotation on the key Secret: since when clients sign with the key in use, RFC 3339.
	RNDCSwitchedAtAnnotation = "bindy.firestoned.io/rndc-switched-at"
	// RNDCRotatedAtAnnotation stood on pod templates that the existing Bindy
	// restarted for a new key. A rotation needs no restart here.
	RNDCRotatedAtAnnotation = "bindy.firestoned.io/rndc-rotated-at"

	// ConfigChecksumAnnotation on the pod template is over what BIND reads at its
	// start, so that a change of it rolls the pods.
	ConfigChecksumAnnotation = "zonefold.dev/config-checksum"
	// AppliedAnnotation on a child is over what the operator last applied.
	AppliedAnnotation = "zonefold.dev/applied"
)

// Finalizers. The provider's is the cluster's, as in the existing Bindy.
const (
	ProviderFinalizer    = "bindy.firestoned.io/bind9cluster-finalizer"
	ClusterFinalizer     = "bindy.firestoned.io/bind9cluster-finalizer"
	InstanceFinalizer    = "bindy.firestoned.io/bind9instance-finalizer"
	ZoneFinalizer        = "bindy.firestoned.io/dnszone-finalizer"
	ARecordFinalizer     = "bindy.firestoned.io/arecord-finalizer"
	AAAARecordFinalizer  = "bindy.firestoned.io/aaaarecord-finalizer"
	CNAMERecordFinalizer = "bindy.firestoned.io/cnamerecord-finalizer"
	TXTRecordFinalizer   = "bindy.firestoned.io/txtrecord-finalizer"
	MXRecordFinalizer    = "bindy.firestoned.io/mxrecord-finalizer"
	NSRecordFinalizer    = "bindy.firestoned.io/nsrecord-finalizer"
	SRVRecordFinalizer   = "bindy.firestoned.io/srvrecord-finalizer"
	CAARecordFinalizer   = "bindy.firestoned.io/caarecord-finalizer"
)

// Condition types.
const (
	// ConditionReady: everything that the spec asks for is there and confirmed.
	ConditionReady = "Ready"
	// ConditionProgressing: a change is under way.
	ConditionProgressing = "Progressing"
	// ConditionDegraded: it works in part.
	ConditionDegraded = "Degraded"
)

// Reasons of the conditions of providers, clusters and instances.
const (
	ReasonAllReady       = "AllReady"
	ReasonPartiallyReady = "PartiallyReady"
	ReasonNotReady       = "NotReady"
	ReasonNoChildren     = "NoChildren"
	// ReasonRollingOut: pods are being replaced one at a time.
	ReasonRollingOut = "RollingOut"
	// ReasonInvalidSpec: aliases contradict each other, or a fragment cannot be
	// used. Nothing was changed.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonNotOwned: an object of the name that the operator needs belongs to
	// somebody else and is left alone.
	ReasonNotOwned = "NotOwned"
	// ReasonNamespaceNotFound: a namespace of the provider does not exist.
	ReasonNamespaceNotFound = "NamespaceNotFound"
	// ReasonClusterNotFound: clusterRef names neither a Bind9Cluster here nor a provider.
	ReasonClusterNotFound = "ClusterNotFound"
	// ReasonConfigMapNotFound: a ConfigMap that configMapRefs names does not exist.
	ReasonConfigMapNotFound = "ConfigMapNotFound"
	// ReasonSecretNotFound: the Secret of a key does not exist.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonInvalidKey: the Secret holds no key that BIND takes. The key before
	// it stays in use.
	ReasonInvalidKey = "InvalidKey"
	// ReasonBindingNotFound: the ClusterRoleBinding of the sidecars is not installed.
	ReasonBindingNotFound = "BindingNotFound"
	// ReasonReconcileFailed: the API server or a pod refused something; it is
	// tried again.
	ReasonReconcileFailed = "ReconcileFailed"
	// ReasonDeleting: what the object made is being removed.
	ReasonDeleting = "Deleting"
	// ReasonOpenResolver: of Warning: a server resolves names of others for anybody.
	ReasonOpenResolver = "OpenResolver"
	// ReasonNotUsed: of Warning: a field is set that nothing uses.
	ReasonNotUsed = "NotUsed"
	// ReasonClientsHidden: of Warning: a server sees addresses of nodes in the place of clients'.
	ReasonClientsHidden = "ClientsHidden"
)

// Reasons of records and zones beside those of the core.
const (
	// ReasonNotSelected: the record names no zone, and no zone selects it.
	ReasonNotSelected = "NotSelected"
	// ReasonAllConfigured: every server has confirmed the zone.
	ReasonAllConfigured = "AllInstancesConfigured"
	// ReasonReconcileSucceeded: every primary server of the zone has confirmed the record.
	ReasonReconcileSucceeded = "ReconcileSucceeded"
	// ReasonPrimaryReconciling: a primary server is about to take the zone.
	ReasonPrimaryReconciling = "PrimaryReconciling"
	// ReasonSecondaryReconciling: the primary servers have the zone; a secondary is
	// about to transfer it.
	ReasonSecondaryReconciling = "SecondaryReconciling"
	// ReasonPrimaryFailed: a primary server did not take the zone.
	ReasonPrimaryFailed = "PrimaryFailed"
	// ReasonSecondaryFailed: a secondary server did not take the zone.
	ReasonSecondaryFailed = "SecondaryFailed"
	// ReasonSigningRefused: the zone is not signed as it should be, since resolvers
	// could then take its answers for forged.
	ReasonSigningRefused = "SigningRefused"
	// ReasonGoingInsecure: the zone is signed until its parent has no DS records of it.
	ReasonGoingInsecure = "GoingInsecure"
	// ReasonNoPrimaryInstances: the zone is on secondary servers only.
	ReasonNoPrimaryInstances = "NoPrimaryInstances"
	// ReasonNotAllowed: instances of other namespaces are selected and do not
	// allow it.
	ReasonNotAllowed = "NotAllowed"
	// ReasonNoInstances: no server has the zone.
	ReasonNoInstances = "NoInstances"
	// ReasonZoneNotFound: there is no DNSZone as the record names it.
	ReasonZoneNotFound = "ZoneNotFound"
	// ReasonZoneAmbiguous: several DNSZones are called as the record names its zone.
	// The oldest has it.
	ReasonZoneAmbiguous = "ZoneAmbiguous"
	// ReasonNoAddress: of Warning: no server of the zone has an address of the types that it wants.
	ReasonNoAddress = "NoAddress"
	// ReasonInvalidSelector: a selector of the zone cannot be read, and selects nothing.
	ReasonInvalidSelector = "InvalidSelector"
	// ReasonSelectedTwice: several DNSZones select the record. The one that it
	// names, or else the oldest, has it.
	ReasonSelectedTwice = "SelectedTwice"
	// ReasonForeignChange is that of events: a server held something else than what
	// was written there.
	ReasonForeignChange = "ForeignChange"
)
