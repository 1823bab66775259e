// Package live keeps what was listed of a cluster up to date: it watches what it may watch, and lists the rest again.
// It reads with the rights of its user, and writes nothing.
package live

import (
	"context"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/zonefold/zonefold/internal/cli/manifest"
)

// A Client asks the API server.
type Client = rest.Interface

// A List is a path of the API whose objects were listed, with what they were.
type List struct {
	Path    string
	Version string // the metadata.resourceVersion of the list
	Objects []*manifest.Object
}

// Objects are those of some lists, as they are by now.
type Objects struct {
	client    Client
	namespace string // of objects that do not say theirs, of which a cluster has none
	clock     func() time.Time
	changed   chan struct{}
	limits    Limits

	mu    sync.Mutex
	parts []*part
}

// A part is what one list holds by now, in the order of names.
type part struct {
	path    string
	version string
	objects []*manifest.Object
	trouble string // why it may be out of date; "": it is not
}

// Limits are for objects that are read for others.
type Limits struct {
	Octets int64         // that are read of one list; 0: whatever there is
	Watch  time.Duration // how long a watch lasts, for whose begin alone rights count; 0: as long as the API server has it
}

// New returns the objects of lists. They stay as they are until Follow.
func New(client Client, namespace string, lists []List, clock func() time.Time, limits Limits) *Objects {
	o := &Objects{client: client, namespace: namespace, clock: clock, changed: make(chan struct{}, 1), limits: limits}
	for _, l := range lists {
		objects := slices.Clone(l.Objects)
		slices.SortFunc(objects, compare)
		o.parts = append(o.parts, &part{path: l.Path, version: l.Version, objects: objects})
	}
	return o
}

func compare(a, b *manifest.Object) int { return a.Compare(b.Ref) }

// All returns the objects by namespace, name and kind. Those that have not changed are the same as before.
func (o *Objects) All() []*manifest.Object {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []*manifest.Object
	for _, p := range o.parts {
		out = append(out, p.objects...)
	}
	slices.SortStableFunc(out, compare)
	return out
}

// Troubles are sentences on what may be out of date, because the API server does not say it any more.
func (o *Objects) Troubles() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for _, p := range o.parts {
		if p.trouble != "" {
			out = append(out, p.trouble)
		}
	}
	return out
}

// Changed tells that something has changed since the last time.
func (o *Objects) Changed() <-chan struct{} { return o.changed }

// Follow keeps the objects as they are in the cluster until the context ends.
func (o *Objects) Follow(ctx context.Context) {
	var all sync.WaitGroup
	for _, p := range o.parts {
		all.Go(func() { o.follow(ctx, p) })
	}
	all.Wait()
}

// How long what cannot be watched rests before it is listed again: this many times as long as the last list took, so
// that it costs others little, and at least restsFor. A watch that has ended begins again after watchRests.
const (
	restsTimes = 10
	restsFor   = 2 * time.Second
	watchRests = 100 * time.Millisecond
)

// follow watches one list, and lists again what cannot be watched or what a watch has lost.
func (o *Objects) follow(ctx context.Context, p *part) {
	var took time.Duration
	for ctx.Err() == nil {
		err := o.watch(ctx, p)
		if err == nil || ctx.Err() != nil { // the API server ends each watch some time
			pause(ctx, watchRests)
			continue
		}
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			pause(ctx, max(restsFor, restsTimes*took))
		}
		began := o.clock()
		err = o.relist(ctx, p)
		took = o.clock().Sub(began)
		if ctx.Err() == nil {
			if apierrors.IsForbidden(err) {
				o.forget(p)
			}
			o.say(p, err)
		}
	}
}

// pause waits, unless the context ends.
func pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// forget drops the objects of a list that the person may not see any more.
func (o *Objects) forget(p *part) {
	o.mu.Lock()
	had := len(p.objects) > 0
	p.objects = nil
	o.mu.Unlock()
	if had {
		o.tell()
	}
}

// say keeps why a list may be out of date.
func (o *Objects) say(p *part, err error) {
	trouble := ""
	if err != nil {
		trouble = "What is shown of " + p.path + " may be out of date: " + err.Error() + "."
	}
	o.mu.Lock()
	same := p.trouble == trouble
	p.trouble = trouble
	o.mu.Unlock()
	if !same {
		o.tell()
	}
}

func (o *Objects) tell() {
	select {
	case o.changed <- struct{}{}:
	default: // it is told already
	}
}
