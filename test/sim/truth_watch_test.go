package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	// endOfWatch marks the object that a watch ends with.
	endOfWatch = "truth.zonefold.dev/end"
	// watchTime is how long it may take until that comes.
	watchTime = 30 * time.Second
)

// A watching is one watch at both.
type watching struct {
	what    string
	ordered bool // from the first event on, and not only after what there was
	told    [2]chan []map[string]any
}

// watchIt begins a watch of the collection: of all of it from now on, or of some from some time on.
func (l *living) watchIt(t *testing.T, all bool) {
	query, from := url.Values{"watch": {"true"}, "allowWatchBookmarks": {"true"}}, "now"
	o := operation{method: http.MethodGet, contentType: plainJSON, body: func(*side) any { return nil }}
	if !l.kind.namespaced {
		query.Set("labelSelector", "life="+l.namespace)
	}
	if !all {
		from = l.choose("now", "listed", "stale", "state", "streamed")
		switch l.choose("", "name", "label") {
		case "name":
			query.Set("fieldSelector", "metadata.name="+l.choose(l.names...))
		case "label":
			query.Set("labelSelector", fmt.Sprintf("life=%s,of in (%s,end)", l.namespace, l.choose("x", "y")))
		}
		o.accept = l.choose("", "", partialObject)
	}
	name := l.choose(l.names...)
	l.compare(t, sameForBoth(http.MethodGet, l.listing("", ""), nil)) // which says what time it is now
	o.path = func(s *side) string {
		q := url.Values{}
		for k, v := range query {
			q[k] = v
		}
		switch {
		case from == "streamed":
			q.Set("sendInitialEvents", "true")
			q.Set("resourceVersionMatch", "NotOlderThan")
		case from == "stale" && s.stale[name] != "":
			q.Set("resourceVersion", s.stale[name])
		case from != "state":
			q.Set("resourceVersion", s.listed)
		}
		return l.collection() + "?" + q.Encode()
	}
	w := &watching{what: fmt.Sprintf("the watch after operation %d, %s", l.n, o.path(l.sides[0])),
		ordered: from != "state" && from != "streamed"}
	for i, s := range l.sides {
		response := s.ask(t, o) //nolint:bodyclose // follow closes it
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s is refused by side %d: %d", w.what, i, response.StatusCode)
		}
		w.told[i] = make(chan []map[string]any, 1)
		go func() { w.told[i] <- follow(response) }()
	}
	l.watches = append(l.watches, w)
}

// follow reads a watch up to the object that ends it, or up to an error.
func follow(response *http.Response) (events []map[string]any) {
	defer response.Body.Close()
	for decoder := json.NewDecoder(response.Body); ; {
		var event map[string]any
		if err := decoder.Decode(&event); err != nil {
			if !errors.Is(err, io.EOF) {
				event = map[string]any{"type": err.Error()}
				events = append(events, event)
			}
			return events
		}
		events = append(events, event)
		object, _ := event["object"].(map[string]any)
		meta, _ := object["metadata"].(map[string]any)
		annotations, _ := meta["annotations"].(map[string]any)
		if annotations[endOfWatch] != nil || event["type"] == "ERROR" {
			return events
		}
	}
}

// compare fails if the two were not told the same.
func (w *watching) compare(t *testing.T, sides [2]*side) {
	t.Helper()
	var told [2][]any
	for i, s := range sides {
		select {
		case events := <-w.told[i]:
			told[i] = s.told(t, events, w.ordered)
		case <-time.After(watchTime):
			t.Fatalf("%s: side %d is not told of the end", w.what, i)
		}
	}
	if diff := cmp.Diff(told[0], told[1]); diff != "" {
		t.Errorf("%s\nis told what only one says (-kube-apiserver):\n%s", w.what, diff)
	}
}

// told are events without what differs from server to server. Versions have to grow.
func (s *side) told(t *testing.T, events []map[string]any, ordered bool) (out []any) {
	t.Helper()
	last := int64(0)
	for _, e := range events {
		object, _ := e["object"].(map[string]any)
		meta, _ := object["metadata"].(map[string]any)
		if e["type"] == "ERROR" {
			out = append(out, e["type"], refused(object))
			continue
		}
		version, err := strconv.ParseInt(fmt.Sprint(meta["resourceVersion"]), 10, 64)
		if err != nil || ordered && version < last {
			t.Errorf("%s: after %d it tells %v %v", s.server, last, e, err)
		}
		if e["type"] == "BOOKMARK" { // those that come each minute are not compared
			if annotations, _ := meta["annotations"].(map[string]any); annotations != nil {
				ordered = true
				out = append(out, e["type"], object["kind"], object["apiVersion"], annotations)
			}
			continue
		}
		last = version
		out = append(out, e["type"], s.alike(object))
	}
	return out
}
