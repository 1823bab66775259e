package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ConditionCreated is the type of the condition that says whether the service has ever had the record set.
const ConditionCreated = "Created"

// Condition is a condition as Gardener has them.
type Condition struct {
	Type   string                 `json:"type"`
	Status metav1.ConditionStatus `json:"status"`

	// When the status last changed.
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`

	// When anything in it last changed.
	LastUpdateTime metav1.Time `json:"lastUpdateTime"`

	Reason  string `json:"reason"`
	Message string `json:"message"`

	// +optional
	Codes []ErrorCode `json:"codes,omitempty"`
}

// LastError says what went wrong.
type LastError struct {
	// A sentence.
	Description string `json:"description"`

	// +optional
	TaskID *string `json:"taskID,omitempty"`

	// What kind of error it is, where that is known.
	//
	// +optional
	Codes []ErrorCode `json:"codes,omitempty"`

	// Since when it is so.
	//
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
}

// LastOperation says what was done last, or is being done.
type LastOperation struct {
	// A sentence.
	Description string `json:"description"`

	// When the operation came to be in this state.
	LastUpdateTime metav1.Time `json:"lastUpdateTime"`

	// How far it is, in percent.
	//
	// +kubebuilder:validation:Format=int32
	Progress int32 `json:"progress"`

	State OperationState `json:"state"`
	Type  OperationType  `json:"type"`
}

// OperationType is a word for what is done.
type OperationType string

// What is done.
const (
	TypeCreate    OperationType = "Create"
	TypeReconcile OperationType = "Reconcile"
	TypeDelete    OperationType = "Delete"
	TypeMigrate   OperationType = "Migrate"
	TypeRestore   OperationType = "Restore"
)

// OperationState is a word for how an operation stands.
type OperationState string

// How an operation stands.
const (
	StateProcessing OperationState = "Processing"
	StateSucceeded  OperationState = "Succeeded"
	StateError      OperationState = "Error" // it is tried again
)

// ErrorCode is a word for a kind of errors, by which Gardener decides whether trying again helps.
type ErrorCode string

// Kinds of errors.
const (
	ErrorUnauthenticated       ErrorCode = "ERR_INFRA_UNAUTHENTICATED"
	ErrorUnauthorized          ErrorCode = "ERR_INFRA_UNAUTHORIZED"
	ErrorQuotaExceeded         ErrorCode = "ERR_INFRA_QUOTA_EXCEEDED"
	ErrorRetryableDependencies ErrorCode = "ERR_RETRYABLE_INFRA_DEPENDENCIES"
	ErrorConfigurationProblem  ErrorCode = "ERR_CONFIGURATION_PROBLEM"
)

// NamedResourceReference is a name for an object.
type NamedResourceReference struct {
	Name        string                      `json:"name"`
	ResourceRef CrossVersionObjectReference `json:"resourceRef"`
}

// CrossVersionObjectReference names an object of any version of its kind.
//
// +structType=atomic
type CrossVersionObjectReference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`

	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
}
