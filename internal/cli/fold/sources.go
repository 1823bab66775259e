package fold

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dialect/sources"
	"github.com/zonefold/zonefold/internal/zone"
)

// wishes are what Services, Ingresses, routes and others like them ask for.
type wishes struct {
	inventory *sources.Inventory
	stirred   map[zone.ID]bool // those to be looked at again
	held      map[zone.ID]*wished
	begun     bool // names that are lost later have what they had
}

// A wished is what was made of an object.
type wished struct {
	object    *manifest.Object
	endpoints []sources.Endpoint
	claims    []zone.ID
	lost      []string // names for which there is no address
	notes     []zone.Note
}

func newWishes() *wishes {
	options := sources.Options{NodeNamespace: sources.NodeNamespace}
	return &wishes{inventory: sources.NewInventory(options), stirred: map[zone.ID]bool{}, held: map[zone.ID]*wished{}}
}

// put takes an object in. One that does not count is as if it were not there.
func (w *wishes) put(a *arrival) {
	if a.refusal != nil {
		w.drop(a)
		return
	}
	w.again(w.inventory.Put(sourceOf(a.object)))
	if id, is := w.inventory.IDOf(sourceOf(a.object)); is {
		if w.held[id] == nil {
			w.held[id] = &wished{}
		}
		w.held[id].object = a.object
	}
}

func (w *wishes) drop(a *arrival) {
	if o := sourceOf(a.object); o != nil {
		w.again(w.inventory.Delete(o))
	}
}

func (w *wishes) again(ids []zone.ID) {
	for _, id := range ids {
		w.stirred[id] = true
	}
}

// sourceOf returns what the inventory knows of an object; nil: nothing.
func sourceOf(o *manifest.Object) metav1.Object {
	switch {
	case o.Kind == manifest.Namespace:
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.Name, Labels: o.Labels}}
	case o.Source != nil:
		return o.Source
	}
	return nil
}

// wish puts into the World what the objects ask for, and begins the results of all of them.
func (f *Fold) wish(c *Composition) {
	w := f.wishes
	var now []*sources.Wish
	for id := range w.stirred {
		if wish := f.look(id); wish != nil {
			now = append(now, wish)
		}
	}
	clear(w.stirred)
	if !w.begun {
		f.restore(now)
		w.begun = true
	}
	for _, wish := range now {
		f.ask(wish)
	}
	for _, id := range slices.SortedFunc(maps.Keys(w.held), zone.ID.Compare) {
		have := w.held[id]
		for _, claim := range have.claims {
			c.Records = append(c.Records, RecordResult{Object: have.object, Claim: claim})
		}
		for _, name := range have.lost {
			c.Records = append(c.Records, RecordResult{have.object, id.Part(name), sources.Unaddressed(id, name)})
		}
		for _, n := range have.notes {
			c.Problems = append(c.Problems, problem{have.object, "metadata.annotations", true, string(n.Reason), n.Message})
		}
	}
}

// look returns what an object asks for now, with what it had where it has lost its address; nil: it asks for nothing.
func (f *Fold) look(id zone.ID) *sources.Wish {
	have := f.wishes.held[id]
	wish, is := f.wishes.inventory.Wish(id)
	if !is {
		if have != nil {
			for _, claim := range have.claims {
				f.World.DeleteClaim(claim)
			}
		}
		delete(f.wishes.held, id)
		return nil
	}
	wish.Keep(have.endpoints)
	have.lost = wish.Lost()
	return wish
}

// ask makes the claims of one object those that it asks for now.
func (f *Fold) ask(wish *sources.Wish) {
	have, now := f.wishes.held[wish.ID], wish.Claims()
	for _, old := range have.claims {
		if !slices.ContainsFunc(now, func(c zone.Claim) bool { return c.ID == old }) {
			f.World.DeleteClaim(old)
		}
	}
	have.claims = have.claims[:0]
	for _, claim := range now {
		f.World.PutClaim(claim)
		have.claims = append(have.claims, claim.ID)
	}
	have.endpoints, have.notes = wish.Endpoints, wish.Notes
}

// TypeOf returns the type in the part of a claim, which only objects that ask for several sets have.
func TypeOf(claim zone.ID) string {
	if parts := strings.Split(claim.Name, "/"); len(parts) > 2 {
		return parts[2]
	}
	return ""
}
