package homelab

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

// A promise is what the stored status of a record says that its server has, or may say: a write that was not answered
// may have arrived. Who begins after a crash believes it, and so it is taken back before anything else is sent.
type promise struct {
	hash       string // "": nothing
	generation int64  // of the object; from the next one on nobody believes it
}

func promiseOf(s v1alpha1.DNSRecordStatus) promise {
	if s.Applied == nil || s.Applied.Hash == "" {
		return promise{}
	}
	return promise{s.Applied.Hash, s.ObservedGeneration}
}

// believed is the hash that who begins now, or later, takes for what the server has of a record; "": he takes none.
func (r *record) believed() string {
	if r.deleting() || r.promise.generation != r.object.Generation {
		return ""
	}
	return r.promise.hash
}

// patchTo gathers what a write is to change of the status. After a write without an answer nobody knows what is there:
// the next one names every field, or what that one said might stay beside it. k.mu is held.
func (r *record) patchTo(status v1alpha1.DNSRecordStatus) map[string]any {
	return recordPatch(r.status, status, r.unsure)
}

// misled returns a record whose status would be believed and be wrong once a step is done; nil: there is none. k.mu is
// held.
func misled(s *slot, do step) *record {
	for r := range s.holders {
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
	for r := range s.holders {
		if r != w.owner {
			return ""
		}
	}
	return w.owner.believed()
}

// sure returns the hash that the status of a record may promise: what the server has and is to keep. k.mu is held.
func (k *Controller) sure(r *record) string {
	s := k.slots[slotOf(*r.applied)]
	if s == nil || len(holdings(s)) > 1 {
		return ""
	}
	hash := s.confirmed
	if !s.loaded {
		hash = r.believed()
	}
	if hash == "" || hash != r.applied.Hash {
		return ""
	}
	if w, known := k.want(s); known && (w == nil || w.hash != hash) {
		return ""
	}
	return hash
}

// disclaim has the status of a record promise nothing any more.
func (k *Controller) disclaim(ctx context.Context, r *record) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	k.mu.Lock()
	if r.applied == nil || r.promise.hash == "" {
		k.mu.Unlock()
		return nil // another write was faster
	}
	object, applied, status := r.object, *r.applied, r.status
	applied.Hash, r.told = "", true
	status.Applied = &applied
	patch := r.patchTo(status)
	patch["applied"] = appliedPatch(&applied)
	k.mu.Unlock()
	err := k.patchStatus(ctx, r, object, patch)
	if err != nil && !apierrors.IsInvalid(err) { // what its schema refuses keeps its status: better it is sent
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r.status.Applied, r.promise = &applied, promise{}
	return nil
}
