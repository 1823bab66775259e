package console

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// heartbeat is how often a page hears that nothing has changed, so that a connection that is gone is noticed.
const heartbeat = 20 * time.Second

// newSight tells a page that there is something else to be seen.
const newSight = "event: changed\ndata: now\n\n"

// events tells a page, until it is left, when there is something else to be seen.
func (c *Console) events(w http.ResponseWriter, r *http.Request) {
	select {
	case c.streams <- struct{}{}:
		defer func() { <-c.streams }()
	default: // a page that is not kept up to date still works
		w.WriteHeader(http.StatusNoContent)
		return
	}
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Time{}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy must not wait for more
	send := func(text string) bool {
		_, err := fmt.Fprint(w, text)
		return err == nil && control.Flush() == nil
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	world, changed := c.opts.Source.World()
	ok := send(": hello\n\n")
	if strconv.FormatUint(world.Version, 10) != r.URL.Query().Get("seen") { // it changed while the page was loaded
		ok = send(newSight)
	}
	for ok {
		select {
		case <-r.Context().Done():
			return
		case <-c.gone: // the page hears why when it asks again
			_ = send(newSight)
			return
		case <-beat.C:
			if !c.access.admits(r) {
				_ = send(newSight)
				return
			}
			ok = send(": nothing new\n\n")
		case <-changed:
			_, changed = c.opts.Source.World()
			ok = send(newSight)
		}
	}
}
