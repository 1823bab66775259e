package fleet

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/bindcar"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// evidence is what servers say of the keys that they accept.
type evidence struct {
	lists    [][]bindcar.KeyStatus // of each server that answered
	complete bool                  // all servers that there are answered
	transfer bool                  // the keys are for transfers, and have nothing to do with the control channel
	troubles []dialect.Trouble
}

// ask asks the pods of a task which keys they accept.
func (t *keyTask) ask(ctx context.Context, now time.Time) evidence {
	pods := slices.DeleteFunc(slices.Clone(t.pods), func(p corev1.Pod) bool {
		return !dialect.IsServer(&p) || !dialect.HasKeys(&p, now)
	})
	out := evidence{complete: true, transfer: t.settings.Purpose == bind9.ForTransfer}
	answers := make([]bindcar.KeyList, len(pods))
	errs := t.servers.Each(ctx, now, pods, func(ctx context.Context, i int) (err error) {
		c, err := t.servers.Sidecar(ctx, &pods[i])
		if err == nil {
			answers[i], err = c.Keys(ctx)
		}
		return err
	})
	for i, err := range errs {
		if err != nil {
			out.complete = false
			_, told := t.servers.Failing(&pods[i], err, now)
			out.troubles = append(out.troubles, told...)
			continue
		}
		list := answers[i].Keys
		if out.transfer {
			list = answers[i].Transfer
		}
		out.lists = append(out.lists, list)
	}
	return out
}

// accept reports whether all servers are known to accept this very key.
func (e evidence) accept(k bind9.Key) bool {
	if !e.complete {
		return false
	}
	for _, list := range e.lists {
		takes := func(s bindcar.KeyStatus) bool { return s.ID == k.ID() && s.DNS && (s.Control || e.transfer) }
		if !slices.ContainsFunc(list, takes) {
			return false
		}
	}
	return true
}

// names are those of all keys that servers have, whether they accept them or not.
func (e evidence) names() (out []string) {
	for _, list := range e.lists {
		for _, s := range list {
			out = append(out, s.Name)
		}
	}
	return out
}

// A change is what was written into a Secret with keys.
type change struct {
	made          bool // there was no Secret
	before, after bind9.Ring
	move          bind9.Move
}

// reportChange makes an event of what happened to keys.
func (t *keyTask) reportChange(c change) {
	p := t.settings.Purpose
	inUse, newest := dialect.KeyName(p, c.after.InUse), dialect.KeyName(p, c.after.Keys[len(c.after.Keys)-1].Name)
	switch {
	case c.made && len(c.before.Keys) > 0:
		t.warning(t.owner, "KeysRestored", "Create", dialect.Sentence(
			"Secret %s was missing. The operator made it again with the same keys.", t.secret))
	case c.move == bind9.Create && c.made && t.settings.Past == 0: // the first is as little news as any other child
	case c.move == bind9.Create:
		t.warning(t.owner, "KeyLost", "Create", dialect.Sentence("Secret %s was missing or had no usable key. It now has "+
			"the new key %s, which servers accept within a minute or two, when they have its file.", t.secret, inUse))
	case c.move == bind9.Add:
		t.normal(t.owner, "KeyAdded", "Rotate", dialect.Sentence(
			"Servers get the key %s too; %s stays in use until all of them accept it.", newest, inUse))
	case c.move == bind9.Switch:
		t.normal(t.owner, "KeySwitched", "Rotate", dialect.Sentence(
			"All servers accept the key %s, which is in use now; the one before stays valid for %s.", inUse, bind9.Overlap))
	case c.move == bind9.Replace:
		t.normal(t.owner, "KeyReplaced", "Rotate", dialect.Sentence(
			"The supplied key has another secret. Servers get it; %s stays in use until all of them accept it.", inUse))
	case c.move == bind9.Remove:
		t.normal(t.owner, "KeyRemoved", "Rotate", dialect.Sentence("Servers now accept only the key %s.", inUse))
	}
}
