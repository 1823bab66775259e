package v1alpha1

// Protection keeps zones on the servers of a Backend from losing records by mistake.
type Protection struct {
	// How much of a zone may be deleted within an hour, in percent of the record sets
	// that zonefold has there. Deletions beyond that are held, all that are due at the
	// time, while additions and changes go out: the Zone has the condition
	// DeletionsHeld. Default 20.
	//
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	MaxDeletedPercent *int32 `json:"maxDeletedPercent,omitempty"`

	// How many record sets of a zone may be deleted within an hour however small it is. Default 10.
	//
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +optional
	MinDeleted *int32 `json:"minDeleted,omitempty"`

	// Which changes are made at all. Sync (the default): additions, changes and
	// deletions. UpsertOnly: no deletions. CreateOnly: additions alone. What a policy
	// leaves stays on the server, also when its Zone is deleted, and nobody can
	// approve it.
	//
	// +kubebuilder:default=Sync
	// +optional
	Policy ChangePolicy `json:"policy,omitempty"`
}

// ChangePolicy says which changes are made.
//
// +kubebuilder:validation:Enum=Sync;UpsertOnly;CreateOnly
type ChangePolicy string

const (
	// PolicySync has all changes made.
	PolicySync ChangePolicy = "Sync"
	// PolicyUpsertOnly has nothing deleted.
	PolicyUpsertOnly ChangePolicy = "UpsertOnly"
	// PolicyCreateOnly has nothing changed or deleted.
	PolicyCreateOnly ChangePolicy = "CreateOnly"
)
