package controller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An Examiner says what admission thinks of the objects of one kind. It is asked about new objects and changed specs
// only.
type Examiner struct {
	Kind client.Object // an empty one
	// Labels decide too, since others select objects of the kind by them: it is asked about changed labels.
	Labels bool
	// Faults are sentences about what makes an object invalid, whatever else there is. What an update has in common with
	// the object that is stored is no reason to refuse it: who mends one thing need not mend all.
	Faults func(o client.Object) []string
	// Look says what else there is to say, which depends on other objects. old is nil for a new object. nil: nothing.
	Look func(ctx context.Context, old, o client.Object) Findings
	// Deleting has it asked about changed specs of objects that are being deleted, too: these must not be changed.
	Deleting bool
	// Path is a further one at which these objects are reviewed; empty: there is none.
	Path string
}

// Findings are what an Examiner says, in sentences.
type Findings struct {
	Denials  []string // why an object may not be stored
	Warnings []string // what whoever stores it should know
}
