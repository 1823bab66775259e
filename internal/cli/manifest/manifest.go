// Package manifest reads Kubernetes objects from files: the kinds that zonefold
// knows, wherever they stand in YAML or JSON documents and lists, each with the
// place where it was found.
//
// Reading is tolerant, because one bad object must not hide the others: what an
// object cannot be decoded for is said of that object, and what is no object at all
// is a [Problem] of its own.
package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardener "github.com/zonefold/zonefold/api/gardener/v1alpha1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

// Kinds that are read.
const (
	Zone      = "Zone"
	Record    = "Record"
	Backend   = "Backend"
	Namespace = "Namespace"
)

// A Place is a line of a file.
type Place struct {
	File string
	Line int // from 1
}

// String returns file:line, which editors jump to.
func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Compare orders places by file and line.
func (p Place) Compare(o Place) int {
	return cmp.Or(strings.Compare(p.File, o.File), cmp.Compare(p.Line, o.Line))
}

// A Ref names one object. Namespace is empty for cluster-scoped kinds.
type Ref struct{ Kind, Namespace, Name string }

// String returns the form that messages use, such as "Zone dns/example-org".
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Compare orders references by namespace, name and kind.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(strings.Compare(r.Namespace, o.Namespace), strings.Compare(r.Name, o.Name),
		strings.Compare(r.Kind, o.Kind))
}

// A kubernetesObject is any object of the API server.
type kubernetesObject interface {
	metav1.Object
	runtime.Object
}

// An Object is one object of a known kind, as it was found.
type Object struct {
	Ref
	JSON []byte // the object as it stands in its document

	// One of these is set, by the kind; none where Fault says why not.
	Zone     *kubizone.Zone
	Record   *kubizone.Record
	Backend  *zonefold.Backend
	Bindy    kubernetesObject // of a kind of bindy.firestoned.io
	Homelab  kubernetesObject // of a kind of dns.homelab.mortenolsen.pro
	Gardener *gardener.DNSRecord
	Source   kubernetesObject  // of a kind that asks for names by what it is there for, or that such ones depend on
	Labels   map[string]string // of a Namespace

	// Fault is a clause that says why the object cannot be decoded: "spec.ttl must …".
	Fault string

	doc  *document
	path string // of the object in its document: "items[3]", or empty
}

// Meta returns the object as it was decoded; nil: it could not be, or it is a Namespace.
func (o *Object) Meta() metav1.Object {
	switch {
	case o.Zone != nil:
		return o.Zone
	case o.Record != nil:
		return o.Record
	case o.Backend != nil:
		return o.Backend
	case o.Gardener != nil:
		return o.Gardener
	}
	for _, other := range []kubernetesObject{o.Bindy, o.Homelab, o.Source} {
		if other != nil {
			return other
		}
	}
	return nil
}

// Place returns where the object begins.
func (o *Object) Place() Place { return o.PlaceOf("") }

// PlaceOf returns where a field such as "spec.delegations[0].zones[1]" is set, or what
// is nearest above it. It parses the document again and is meant for findings.
func (o *Object) PlaceOf(field string) Place {
	return o.doc.placeOf(joinPath(o.path, field))
}

// A Problem is something about the input that is no decision about an object.
type Problem struct {
	Place   Place
	Object  Ref // zero if it is about no object
	Reason  string
	Message string // a sentence
}

// Reasons of a Problem.
const (
	Unreadable   = "Unreadable"   // a document that is not YAML
	NoObject     = "NoObject"     // a document of ours that is no object, or has no name
	UnknownKind  = "UnknownKind"  // an object of our groups whose kind or version nobody knows
	UnknownField = "UnknownField" // a field that the kind does not have
	FieldTwice   = "FieldTwice"   // a field that is set twice; the last one counts
)

// Input is what was read. It depends on the files only, not on their order, except
// for the order of its lists.
type Input struct {
	Objects  []*Object
	Problems []Problem
	// Ignored are documents that cannot be read and do not mention our groups.
	Ignored []Problem
	// Skipped says what the documents and objects are that are none of ours, such as "Secret of v1".
	Skipped []string
	// Stdin is what stood on the standard input, which can be read only once; nil if that was not asked for.
	Stdin []byte
}

// Options say what to read.
type Options struct {
	Paths     []string // files, folders, or "-" for Stdin
	Stdin     io.Reader
	Texts     []Text // that are no files; they come first
	Namespace string // of namespaced objects that do not say theirs
	// Valid reports whether an API server would take an object: one that it would not may be half of one. Nil takes all.
	Valid func(*Object) bool
	// Begin is told of a stage of the work and of its pieces. It returns what is called for each that is done. Nil: nobody
	// asks.
	Begin func(stage string, pieces int) (step func())
}

// A Text is what stands for a file.
type Text struct {
	Name string // in place of that of a file
	Text []byte
	List *List // in place of Text
}

// Size is how many octets it has.
func (t *Text) Size() int64 {
	size := len(t.Text)
	if t.List != nil {
		for _, item := range t.List.Items {
			size += len(item)
		}
	}
	return int64(size)
}

// A List is one of an API server. Its text is gone through once: there may be 100,000 items.
type List struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metav1.ListMeta   `json:"metadata"`
	Items      []json.RawMessage `json:"items"`
}

// A Resource is a kind that is read, as an API server knows it.
type Resource struct {
	GroupVersion, Kind string
	Cluster            bool // it is in no namespace
	Source             bool // it asks for names by what it is there for, or such ones depend on it
}

// IsCalled reports whether people may call the kind so, as in Ref.IsCalled.
func (r Resource) IsCalled(alias string) bool {
	k, known := kindOf(r.GroupVersion, r.Kind)
	return known && k.isCalled(alias)
}

// Resources returns all kinds that are read.
func Resources() []Resource {
	sources := sourceKinds()
	out := make([]Resource, len(kinds))
	for i, k := range kinds {
		of := func(other kind) bool { return other.kindKey == k.kindKey }
		out[i] = Resource{k.apiVersion, k.name, k.cluster, slices.ContainsFunc(sources, of)}
	}
	return out
}

// Read reads all objects of all paths once. The error is that of a path which cannot be
// read; everything else is a Problem.
func Read(opts Options) (*Input, error) { return NewReader(opts).Read() }

func joinPath(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "." + b
}
