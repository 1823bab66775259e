// Package admission answers the API server about objects before they are stored: what nobody could ever make work is
// refused, in a sentence, and what else would come of an object is said as warnings. The rules are those of the
// controllers, which do not rely on it: every dialect brings Examiners, made from its own conversion.
//
// reviewer.go says who is asked, exempt.go what is exempt, ring.go which certificate is used when, and keeper.go how it
// reaches the replicas and the API server.
package admission

// +kubebuilder:rbac:groups="",namespace=zonefold-system,resources=secrets,verbs=create
// +kubebuilder:rbac:groups="",namespace=zonefold-system,resources=secrets,resourceNames=zonefold-admission,verbs=get;list;watch;update
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=zonefold,verbs=get;list;watch;patch

// Names of what the operator and its installation have in common.
const (
	ConfigurationName = "zonefold"           // the ValidatingWebhookConfiguration
	SecretName        = "zonefold-admission" // holds the certificates
	ServiceName       = "zonefold-admission" // in front of all replicas
	Path              = "/validate"          // where objects are reviewed
)
