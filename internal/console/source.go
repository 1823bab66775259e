package console

import (
	"context"
	"time"

	"github.com/zonefold/zonefold/internal/cli/explained"
)

// An Object names an object of the cluster, or of files.
type Object = explained.Object

// A Source knows what is shown. Its methods may be called at the same time; values that they return do not change.
type Source interface {
	// World returns what there is by now, and a channel that is closed when that is something else.
	World() (*World, <-chan struct{})
	// Records returns the sets of a zone in canonical order, false if there is no such zone.
	Records(zone Object) ([]Record, bool)
	// Explain answers a question about a name or an object.
	Explain(ctx context.Context, q Question) (*explained.Explanation, error)
	// Differences reads from the servers of a zone what they hold otherwise than is wanted.
	Differences(ctx context.Context, zone Object) ([]Difference, error)
	// History returns what was published of a Zone before, the newest first.
	History(ctx context.Context, zone Object) (*History, error)
	// Draft returns a Record as it is now, for a form to begin with, or why the person may not change it.
	Draft(ctx context.Context, record Object) (Draft, error)
	// MayCreate is nil if the person may create Records in a namespace, and else says why not.
	MayCreate(ctx context.Context, namespace string) error
	// Plan says what an action would do, without doing it.
	Plan(ctx context.Context, a Action) (*Plan, error)
	// Do acts, if what it does is what the plan said, and says what came of it.
	Do(ctx context.Context, a Action, plan string) (string, error)
}

// A World is what there is at one time.
type World struct {
	Version   uint64 // higher with each change
	Where     string // a phrase that says where the objects are
	Namespace string // that is meant where none is said
	Cluster   bool   // they are in a cluster, and not in files
	Zones     []Zone // each below the one that encloses it, as a tree is printed
	Backends  []Backend
	Refused   []Refusal
	Unseen    []string // sentences on what could not be seen
}

// A Zone is one zone, as far as its object tells.
type Zone struct {
	Object
	FQDN     string // "": it has none
	Depth    int    // how many others of the list enclose it
	Parent   string // the name of the nearest of these
	Accepted bool
	Reason   string
	Message  string
	Health   Health
	Serial   string // that is published; "": none, or nobody knows
	Rules    []Rule
	Owners   []Owner
	Servers  []ZoneServer
	Held     *Held
	Frozen   string // why; "": it is not
}

// Owner is a namespace that has records in a zone.
type Owner struct {
	Namespace string
	Records   int
}

// A Rule lets namespaces have names of a zone.
type Rule struct {
	Who     []string // namespaces; empty: all
	Records []string // patterns with the types that they are for
	Zones   []string // patterns
	Text    string   // in place of all that: the rule as the object has it
}

// A ZoneServer is what the status of a Zone says of one Backend.
type ZoneServer struct {
	Name    string
	Serial  string // that it has confirmed; "": none, or nobody knows
	Message string // why not the newest
}

// Held says which deletions wait for an approval.
type Held struct {
	Sets     int
	Examples []string
	Plan     string // "": they cannot be approved
}

// Health is how something is, in a word and in a sentence.
type Health struct {
	State   State
	Reason  string
	Message string
}

// A State is good, bad, or not known.
type State string

// The states.
const (
	Good    State = "good"
	Bad     State = "bad"
	Unknown State = "unknown"
)

// A Record is one set of a zone, with the objects that it comes of.
type Record struct {
	Name    string
	Unicode string // the name as people write it, where it has A-labels
	Type    string
	TTL     uint32
	Data    []string
	Objects []Object // none: it follows from other objects
}

// A Backend is one Backend with what its status says.
type Backend struct {
	Name    string
	Type    string
	Servers []string // addresses or other words for where it is, as far as its spec says
	Mode    string
	Default bool
	Zones   int // that name it, or that it is the default of
	Health  Health
}

// A Refusal is an object that is refused, or warned of.
type Refusal struct {
	Object
	FQDN    string
	Type    string
	Reason  string
	Message string
}

// A Question is about a name, or about an object.
type Question struct {
	Name, Type string
	Object     Object
}

// A Difference is how one zone stands at one server.
type Difference struct {
	Title   string
	Error   bool // it could not be compared
	Same    bool
	Lines   []Line
	Foreign []string // records that nobody wants, and that stay
}

// A Line is a record that comes (+), goes (-) or is changed (~).
type Line struct{ Sign, Text string }

// A History is what was published of a Zone.
type History struct {
	Serial    string // of now
	Revisions []Revision
}

// A Revision is one content that was published.
type Revision struct {
	Serial, Previous        string
	Time                    time.Time
	RolledBackTo            string
	Added, Changed, Deleted int
	Causes                  string // the objects that have changed
	LeftOut                 bool   // the change was too large to be kept
	Lines                   []Line
}
