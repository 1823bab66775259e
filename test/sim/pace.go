package sim

import (
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// delay is how much longer a message takes than others: the same for the same seed, whatever else is under way.
func (w *World) delay(what string) time.Duration {
	w.mu.Lock()
	w.messages[what]++
	n := w.messages[what]
	w.mu.Unlock()
	h := fnv.New64a()
	text := strconv.AppendUint(make([]byte, 0, 128), w.seed, 10)
	text = append(append(append(text, ' '), what...), ' ')
	_, _ = h.Write(strconv.AppendInt(text, int64(n), 10))
	return time.Duration(h.Sum64() % uint64(jitter))
}

// chance are the random numbers of the operator that is the nth to begin.
func (w *World) chance(n int) func() float64 {
	random := rand.New(rand.NewPCG(w.seed, uint64(n)))
	var mu sync.Mutex
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return random.Float64()
	}
}

// effectName names a write to the API server: pages of the journal have names that nobody knows before.
func effectName(r *http.Request) string {
	path := r.URL.Path
	if slices, _, page := strings.Cut(path, "/zoneslices/"); page {
		path = slices + "/zoneslices/*"
	}
	if !strings.Contains(path, "/records/") { // no other names are made by updates
		return r.Method + " " + path
	}
	return r.Method + " " + updatedName.ReplaceAllString(path, "$1-*")
}

// away is for how long no operator begins.
func (w *World) away() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rest.Sub(w.api.store.now())
}

// desert ends all operators as a crash does, and has none begin for a while.
func (w *World) desert(d time.Duration) {
	w.mu.Lock()
	w.rest = w.api.store.now().Add(d)
	all := slices.Clone(w.living)
	w.mu.Unlock()
	for _, o := range all {
		o.mu.Lock()
		over := o.dead || o.ended // another one follows, or has
		o.dead, o.ended = true, true
		o.mu.Unlock()
		if !over {
			o.crash()
		}
		o.end()
	}
}
