// Package explained has what explain says: the values that the command prints as JSON, and that the console shows as a
// page. They are made in one place, internal/cli/ask/explain.go.
package explained

import "github.com/zonefold/zonefold/internal/zone"

// An Explanation says why a name, or an object, is as it is. As JSON it is what explain -o json prints.
type Explanation struct {
	Name      string      `json:"name"`
	Type      string      `json:"type"` // "": of a Zone as a whole
	Zone      *Ref        `json:"zone"`
	FQDN      string      `json:"fqdn"` // of the zone
	Accepted  bool        `json:"accepted"`
	Reason    zone.Reason `json:"reason"`
	Message   string      `json:"message"`
	Notes     []Note      `json:"notes"`
	Subject   *Object     `json:"subject"` // whose verdict it is; null: nobody asks for the name
	Holder    *Object     `json:"holder"`  // who has the name
	TTL       *uint32     `json:"ttl"`
	Data      []string    `json:"data"`
	Steps     []Step      `json:"steps"`
	Enclosing []Enclosing `json:"enclosing"` // the accepted Zones that enclose the name, the nearest first
	Beside    []Beside    `json:"beside"`
	Servers   []Server    `json:"servers"`
	Status    *Status     `json:"status"` // what the object's own status says, where that is otherwise
	Unseen    []string    `json:"unseen"` // what could not be seen
	Advice    string      `json:"advice"`
	Manifest  string      `json:"manifest"` // the objects that are missing, as YAML
}

// A Ref names a Zone.
type Ref struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// RefOf names a Zone; nil: there is none.
func RefOf(id zone.ID) *Ref {
	if id.IsZero() {
		return nil
	}
	return &Ref{Namespace: id.Namespace, Name: id.Name}
}

// An Object names an object.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// ObjectOf names the object of a claim; nil: there is none.
func ObjectOf(id zone.ID) *Object {
	if id.IsZero() {
		return nil
	}
	return new(Object(id.Object()))
}

// String returns the form that messages use.
func (o *Object) String() string { return zone.ID(*o).String() }

// A Note is what there is to say of what is accepted all the same.
type Note struct {
	Reason  zone.Reason `json:"reason"`
	Message string      `json:"message"`
}

// A Step is one who was asked.
type Step struct {
	Zone    *Ref        `json:"zone"` // null: the grants of Backends were asked
	FQDN    string      `json:"fqdn"`
	Rule    string      `json:"rule"`
	Allows  bool        `json:"allows"`
	Reason  zone.Reason `json:"reason"`
	Message string      `json:"message"`
}

// Enclosing is an accepted Zone at or above the name.
type Enclosing struct {
	Zone    Ref    `json:"zone"`
	FQDN    string `json:"fqdn"`
	Message string `json:"message"` // who let it in
}

// Beside is an object that asks for the name, too.
type Beside struct {
	Object
	Type     string      `json:"type"`
	Accepted bool        `json:"accepted"`
	Reason   zone.Reason `json:"reason"`
	Message  string      `json:"message"`
}

// A Status is what the status of an object says.
type Status struct {
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason"`
	Message  string `json:"message"`
}

// A Server is what is known of one server of a zone.
type Server struct {
	Backend string   `json:"backend"` // "": it was named by --server
	Server  string   `json:"server"`  // its address, or what messages call it; "": not known
	Serial  *uint32  `json:"serial"`  // of its answer, else what the status of the Zone says that its Backend has
	Has     []string `json:"has"`     // what by the operator, or the status of the Zone, it has of the set; null: nobody knows
	Answers []string `json:"answers"` // what it answers; null: it was not asked, or did not answer
	Error   string   `json:"error"`   // why not, or why its Backend is behind

	// what the operator knows, in RFC 3339, where it can be asked: see docs/inspect.md
	LastHeard string `json:"lastHeard,omitempty"` // when it answered the operator last
	Since     string `json:"since,omitempty"`     // since when it has failed each time, or never
	Failures  int    `json:"failures,omitempty"`  // how often it has failed since
	NextTry   string `json:"nextTry,omitempty"`   // when the operator turns to it again
	Asking    bool   `json:"asking,omitempty"`    // the operator does so right now
	Confirmed string `json:"confirmed,omitempty"` // when it confirmed the newest change that it has
	Took      string `json:"took,omitempty"`      // since the operator published that, such as 12.3ms

	Inspected bool `json:"-"` // the operator was asked, and knows it
}
