package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/internal/rr"
)

// A reserve is the serials that operators may use because they have raised the ceiling of a Zone: from the one that
// comes after a serial on, up to another one. Two operators may have asked for the same ceiling at the same time.
type reserve struct {
	after, upTo uint32 // after 0: whatever comes before
	by          []*operator
}

func (r reserve) has(serial uint32) bool {
	return (r.after == 0 || rr.SerialLess(r.after, serial)) && !rr.SerialLess(r.upTo, serial)
}

// reserves are what operators have reserved of each Zone, and which serials are nobody's any more: somebody has told
// a server of them, or a status.
type reserves struct {
	of     map[ref][]reserve
	told   map[string]map[uint32]bool // by zone
	said   map[ref]map[uint32]bool
	asking func(path string, ceiling uint32) []*operator
}

func newReserves() reserves {
	return reserves{of: map[ref][]reserve{}, told: map[string]map[uint32]bool{}, said: map[ref]map[uint32]bool{}}
}

// ceilingIn returns the ceiling that a request is about to store, false if it stores none.
func ceilingIn(r *http.Request) (ceiling uint32, is bool) {
	if r.Method != http.MethodPatch || r.GetBody == nil {
		return 0, false
	}
	body, err := r.GetBody()
	if err != nil {
		return 0, false
	}
	text, err := io.ReadAll(body)
	if err != nil || !strings.Contains(string(text), "serialCeiling") {
		return 0, false
	}
	var merge struct {
		Status struct{ SerialCeiling *uint32 }
	}
	var steps []struct {
		Op, Path string
		Value    json.RawMessage
	}
	switch {
	case json.Unmarshal(text, &merge) == nil:
		if merge.Status.SerialCeiling == nil {
			return 0, false
		}
		return *merge.Status.SerialCeiling, true
	case json.Unmarshal(text, &steps) != nil:
		return 0, false
	}
	for _, s := range steps {
		if s.Op == "add" && s.Path == "/status/serialCeiling" {
			return ceiling, json.Unmarshal(s.Value, &ceiling) == nil
		}
	}
	return 0, false
}

// asksFor notes that an operator is about to store a ceiling. mu is held.
func (o *operator) asksFor(path string, ceiling uint32) {
	if o.asked == nil {
		o.asked = map[string][]uint32{}
	}
	if !slices.Contains(o.asked[path], ceiling) {
		o.asked[path] = append(o.asked[path], ceiling)
	}
}

// asking returns the operators that have been about to store a ceiling at a path.
func (c *crew) asking(path string, ceiling uint32) (all []*operator) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.all {
		o.mu.Lock()
		if slices.Contains(o.asked[path], ceiling) {
			all = append(all, o)
		}
		o.mu.Unlock()
	}
	return all
}

// statusPath is where the status of an object is written.
func statusPath(r ref) string {
	return fmt.Sprintf("/apis/%s/%s/namespaces/%s/%s/%s/status", r.kind.Group, r.kind.Version, r.Namespace, r.kind.plural,
		r.Name)
}

// put takes in that a Zone has another ceiling now. The witness's lock is held, as for all below.
func (r *reserves) put(zone ref, was, is uint32) {
	all := r.of[zone]
	if is != 0 && (was == 0 || rr.SerialLess(was, is)) {
		r.of[zone] = append(all, reserve{was, is, r.asking(statusPath(zone), is)})
		return
	}
	r.of[zone] = slices.DeleteFunc(all, func(one reserve) bool { // what was not used is given back
		return is == 0 || one.after != 0 && !rr.SerialLess(one.after, is)
	})
	for i := range r.of[zone] {
		if one := &r.of[zone][i]; rr.SerialLess(is, one.upTo) {
			one.upTo = is
		}
	}
}

// say takes in which serial the status of a Zone tells.
func (r *reserves) say(zone ref, object *unstructured.Unstructured) {
	if object == nil {
		delete(r.of, zone)
		delete(r.said, zone)
		return
	}
	serial, there, _ := unstructured.NestedInt64(object.Object, "status", "serial")
	if !there {
		return
	}
	if r.said[zone] == nil {
		r.said[zone] = map[uint32]bool{}
	}
	r.said[zone][uint32(serial)] = true
}

// uses looks whether an operator that has told a server a new serial of a zone has reserved it: what another one has
// reserved may stand for something else there.
func (w *witness) uses(o *operator, at, zone string, serial uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &w.reserves
	if r.told[zone] == nil {
		r.told[zone] = map[uint32]bool{}
	}
	known := r.told[zone][serial]
	r.told[zone][serial] = true
	if known || w.books.undone {
		return
	}
	others := false
	for z := range w.staying(zone) {
		if r.said[z][serial] {
			return
		}
		for _, one := range r.of[z] {
			if !one.has(serial) {
				continue
			}
			if slices.Contains(one.by, o) {
				return
			}
			others = others || len(one.by) > 0
		}
	}
	if others {
		w.notef("%s is told the serial %d of %s by an operator that has not reserved it, and another one has", at, serial,
			zone)
	}
}
