package homelab

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

// A storedHash is the hash that the stored status of a record gives of what its server has, or may give: a write that
// was not answered may have arrived. A leader that starts after a crash believes it, so it is withdrawn before anything
// else is sent.
type storedHash struct {
	hash       string // "": nothing
	generation int64  // of the object; from the next one on nobody believes it
}

func storedHashOf(s v1alpha1.DNSRecordStatus) storedHash {
	if s.Applied == nil || s.Applied.Hash == "" {
		return storedHash{}
	}
	return storedHash{s.Applied.Hash, s.ObservedGeneration}
}

// believed is the hash that who begins now, or later, takes for what the server has of a record; "": he takes none.
func (r *record) believed() string {
	if r.deleting() || r.stored.generation != r.object.Generation {
		return ""
	}
	return r.stored.hash
}

// misled returns a record whose status would be believed and be wrong once a step is done; nil: there is none.
func misled(s *slot, do step) *record {
	for _, r := range s.holders {
		hash := r.believed()
		if hash == "" || r.applied == nil || slotOf(*r.applied) != s.key {
			continue
		}
		if do.upsert == nil || do.upsert.hash != hash {
			return r
		}
	}
	return nil
}

// remembered returns the hash that the server has confirmed before the operator was started, if that counts still: what
// somebody else has, or had, there may have been sent since.
func remembered(s *slot, w *want) string {
	for _, r := range s.holders {
		if r != w.owner {
			return ""
		}
	}
	return w.owner.believed()
}

// sure returns the hash that the status of a record may have: of what the server has and is to keep.
func (p *plan) sure(r *record) string {
	s := p.slots[slotOf(*r.applied)]
	if s == nil || len(evidenceOf(s)) > 1 {
		return ""
	}
	hash := s.confirmed
	if !s.loaded {
		hash = r.believed()
	}
	if hash == "" || hash != r.applied.Hash {
		return ""
	}
	if w, known := p.want(s); known && (w == nil || w.hash != hash) {
		return ""
	}
	return hash
}

// disclaim withdraws the hash from the status of a record. It writes even if none is known to be there: a write that
// was not answered may have arrived, and then this one meets with a newer version.
func (k *Controller) disclaim(ctx context.Context, r *record) error {
	defer k.writes(r)()
	_, unlock := k.model.Lock()
	if r.applied == nil || r.stored.hash == "" {
		unlock()
		return nil // another write was faster
	}
	base, applied, status := r.base, *r.applied, *r.status
	applied.Hash, r.statusWritten = "", true
	status.Applied = &applied
	unlock()
	got, err := k.objects.Change(ctx, base, "status", map[string]any{"applied": map[string]any{
		"class": applied.Class, "server": applied.Server, "type": applied.Type, "domain": applied.Domain,
		"subdomain": applied.Subdomain, "confirmed": applied.Confirmed, "hash": nil,
	}})
	if err != nil && !apierrors.IsInvalid(err) { // what its schema refuses keeps its status: better it is sent
		return err
	}
	m, unlock := k.model.Lock()
	defer unlock()
	if err == nil {
		m.wrote(r, got, &status)
	}
	r.stored = storedHash{}
	return nil
}
