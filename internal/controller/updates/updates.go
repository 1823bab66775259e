package updates

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/update"
	"github.com/zonefold/zonefold/internal/zone"
)

// +kubebuilder:rbac:groups=kubi.zone,resources=records,verbs=create;patch;delete

// A Request is a message that wants to change a zone, from somebody who may send one.
type Request struct {
	Place     string // the Backend whose server got it
	Zone      dnsname.Name
	Namespace string // that it acts for
	Message   []byte
}

// id names a message. Its signature is a part of it, so that it comes again only when it is repeated.
func (r Request) id() [32]byte {
	return sha256.Sum256(append([]byte(r.Namespace+"\x00"+r.Place+"\x00"), r.Message...))
}

// Digest is what Records say of the message that has written them.
func (r Request) Digest() string {
	id := r.id()
	return hex.EncodeToString(id[:16])
}

// An Answer says what came of it.
type Answer struct {
	Rcode int
	Text  string // for people; "": nothing
}

// Config is what is needed from outside.
type Config struct {
	Cached  client.Reader // what kubizone.Compact leaves of Records
	Live    client.Reader // asks the API server
	Objects *objects.Writer
	Core    *core.Core
	Clock   backend.Clock
	Rand    func() float64 // from 0 to less than 1
	Log     *slog.Logger
	// ParentLabel returns the value of the label kubi.zone/parent-zone of Records in a Zone.
	ParentLabel func(zone.ID) string
	// Read returns what the name server of a Backend answers of some sets of a zone, with the SOA.
	Read func(ctx context.Context, place string, zone dnsname.Name, keys []rr.Key) (backend.Observed, error)
	// Await waits until a condition holds that depends on what the name server answers.
	Await func(ctx context.Context, holds func() bool) error
}

// Updates carries out updates, for one term of leadership.
type Updates struct {
	Config
	answers   answers
	names     *names
	undoings  *undoings
	foresight core.Foresight
}

// New returns Updates that wait for the first one. What goes on after an answer ends with ctx.
func New(ctx context.Context, c Config) *Updates {
	u := &Updates{Config: c, answers: answers{clock: c.Clock}, names: newNames(),
		undoings: newUndoings(ctx, c.Clock, c.Log)}
	u.foresight.Use(c.Core, nil)
	return u
}

// End ends what goes on after answers.
func (u *Updates) End() { u.undoings.wait() }

// patience is how long an update may take until it is answered. Clients that wait for less repeat it, and get the same
// answer.
const patience = 10 * time.Second

// Update carries a request out and returns when the change is answered by the name server. A message that comes again
// is answered as it was the first time.
func (u *Updates) Update(ctx context.Context, r Request) Answer {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return u.answers.once(ctx, r.id(), func() Answer {
		defer u.Core.Expect()()
		err := u.carryOut(ctx, r)
		var refusal *update.Refusal
		switch {
		case err == nil:
			return Answer{Rcode: update.Success}
		case errors.As(err, &refusal):
			u.Log.Info("an update is refused", "zone", r.Zone.String(), "namespace", r.Namespace,
				"rcode", refusal.Name(), "reason", refusal.Text)
			return Answer{refusal.Rcode, refusal.Text}
		}
		u.Log.Warn("an update could not be carried out", "zone", r.Zone.String(), "namespace", r.Namespace, "error", err)
		return Answer{update.ServerFailure, fmt.Sprintf("It could not be carried out: %v", err)}
	})
}

// carryOut returns a *update.Refusal if the message, or a rule of the house, forbids the change.
func (u *Updates) carryOut(ctx context.Context, r Request) error {
	m, refusal := update.Parse(r.Message)
	if refusal != nil {
		return refusal
	}
	if err := u.undoings.room(); err != nil {
		return err
	}
	held, err := u.names.take(ctx, m.Names())
	if err != nil {
		return fmt.Errorf("waiting for another update of the same names: %w", err)
	}
	defer held.free()
	id, known := u.Core.Zone(m.Zone)
	content, has := u.Core.Snapshot(id)
	answered, err := u.Read(ctx, r.Place, m.Zone, []rr.Key{})
	if !known || !has || err != nil {
		return &update.Refusal{Rcode: update.NotAuth, Text: fmt.Sprintf("No Zone of kubi.zone is %s", m.Zone)}
	}
	p := &plan{Updates: u, namespace: r.Namespace, label: zonefold.UpdateRFC2136, digest: r.Digest(), zone: id, held: held}
	before := update.Content{SOA: answered.SOA, Sets: content.Sets}
	if content.DS.Data != nil { // it is served by the zone above, and made and deleted in this one
		all := content.Sets.Txn()
		all.Put(content.DS)
		before.Sets = all.Sets()
	}
	if refusal := m.Check(before); refusal != nil {
		begun, err := p.begun(ctx, m, before.Sets)
		switch {
		case err != nil:
			return err
		case !begun:
			return refusal
		}
	}
	changes, refusal := m.Changes(before)
	if refusal != nil {
		return refusal
	}
	if err := p.make(ctx, changes); err != nil {
		return err
	}
	if err := p.forget(ctx, m); err != nil {
		return err
	}
	if refusal := p.foresee(ctx); refusal != nil {
		return refusal
	}
	if err := p.write(ctx); err != nil {
		return err
	}
	keys := m.Keys() // also what was there already: a message of before may have written it, and waits
	for _, c := range changes {
		keys = append(keys, c.Key)
	}
	return u.served(ctx, r, id, keys)
}

// served waits until the name server answers what the World says of some sets.
func (u *Updates) served(ctx context.Context, r Request, id zone.ID, keys []rr.Key) error {
	err := u.Await(ctx, func() bool {
		want, has := u.Core.Snapshot(id)
		got, err := u.Read(ctx, r.Place, r.Zone, keys)
		if !has || err != nil {
			return false
		}
		for _, key := range keys {
			wanted, _ := want.Sets.Get(key)
			if set, _ := got.Sets.Get(key); !set.Equal(wanted) {
				return false
			}
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("the Records are written, but the server does not answer with them yet: %w", err)
	}
	return nil
}
