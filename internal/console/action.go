package console

// An Action is something that a person can have done with an object.
type Action struct {
	Verb   Verb
	Of     Object
	Serial string // of rollback
	Reason string // of freeze
	Draft  Draft  // of create and change
}

// A Verb says what is done.
type Verb string

// The verbs that are about Zones.
const (
	Approve  Verb = "approve"
	Freeze   Verb = "freeze"
	Thaw     Verb = "thaw"
	Rollback Verb = "rollback"
)

// The verbs that are about Records.
const (
	Create Verb = "create"
	Change Verb = "change"
	Delete Verb = "delete"
)

// AboutRecord reports whether a Record is what a verb is about, and not a Zone.
func (v Verb) AboutRecord() bool { return v == Create || v == Change || v == Delete }

// Drafts reports whether a form says what the object shall be.
func (v Verb) Drafts() bool { return v == Create || v == Change }

// A Draft is what a form says of a Record.
type Draft struct {
	FQDN string
	Type string
	TTL  string // "": that of the zone
	Data string
}

// A Plan is what an action would do.
type Plan struct {
	Sentence string
	Lines    []Line
	Verdict  *Verdict // of a Record; nil: of others
	Others   []string // sentences on what would become of other objects
	YAML     string   // the object as the API server would store it
	Warnings []string // that the API server has
	ID       string   // of all that, and of what it depends on
	Refused  string   // why the person may not, or why it cannot be; "": may
}

// A Verdict is what would be decided about a Record.
type Verdict struct {
	Accepted bool
	Reason   string
	Message  string
	Notes    []string // sentences on what is otherwise than expected
}
