package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
)

// Watches last longer than kube-apiserver has them last, and it sends bookmarks each minute: both together were a third
// of what a life cost.
const (
	watchTimes    = 6                // as long as the client asks for: client-go asks for five to ten minutes
	bookmarkEvery = 24 * time.Minute // one at least in each watch of client-go
)

// test is what a list or a watch chooses.
func (q request) test() (func(ref, *unstructured.Unstructured) bool, error) {
	byLabel, err := labels.Parse(q.query.Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(q.query.Get("fieldSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	for _, r := range byField.Requirements() {
		if r.Field != "metadata.name" && r.Field != "metadata.namespace" {
			return nil, apierrors.NewBadRequest("field label not supported: " + r.Field)
		}
	}
	return func(r ref, object *unstructured.Unstructured) bool {
		return r.kind == q.kind && (q.namespace == "" || r.Namespace == q.namespace) &&
			byLabel.Matches(labels.Set(object.GetLabels())) &&
			byField.Matches(fields.Set{"metadata.name": r.Name, "metadata.namespace": r.Namespace})
	}, nil
}

// list answers with what there is now, or with a page of what there was when the first page was asked for.
func (a *API) list(r *http.Request, q request) (*http.Response, error) {
	test, err := q.test()
	if err != nil {
		return failure(r, err)
	}
	limit, _ := strconv.Atoi(q.query.Get("limit"))
	after, revision := "", uint64(0)
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	if token := q.query.Get("continue"); token != "" {
		if _, err := fmt.Sscanf(token, "%d %q", &revision, &after); err != nil {
			return failure(r, apierrors.NewBadRequest("continue key is not valid: "+err.Error()))
		}
		if revision < a.store.oldest[q.kind] {
			return failure(r, errExpired())
		}
	} else {
		revision = a.store.revision
	}
	if a.ahead(q) {
		return failure(r, errAhead())
	}
	out := unstructured.UnstructuredList{}
	out.SetAPIVersion(q.kind.GroupVersion().String())
	out.SetKind(q.kind.Kind + "List")
	if q.partial {
		out.SetAPIVersion("meta.k8s.io/v1")
		out.SetKind("PartialObjectMetadataList")
	}
	out.SetResourceVersion(strconv.FormatUint(revision, 10))
	items := []any{}
	for _, one := range a.store.asOf(revision, test) {
		key := one.ref.NamespacedName.String()
		if after != "" && key <= after {
			continue
		}
		if limit > 0 && len(items) == limit {
			out.SetContinue(fmt.Sprintf("%d %q", revision, after))
			break
		}
		if limit > 0 {
			after = key
		}
		items = append(items, q.listed(one.after))
	}
	out.Object["items"] = items
	return answer(r, http.StatusOK, out.Object)
}

// listed is what a list shows of an object: of what kind it is, if the list does not say it.
func (q request) listed(object *unstructured.Unstructured) map[string]any {
	out := q.shown(object)
	if q.kind.custom == nil && !q.partial {
		out = maps.Clone(out)
		delete(out, "apiVersion")
		delete(out, "kind")
	}
	return out
}

// asOf returns what there was at a revision that the log still goes back to, in order. mu is held.
func (s *store) asOf(revision uint64, test func(ref, *unstructured.Unstructured) bool) []event {
	was := s.objects
	if revision < s.revision {
		was = maps.Clone(was)
	}
	for i := len(s.log) - 1; i >= 0 && s.log[i].revision > revision; i-- {
		if e := s.log[i]; e.before == nil {
			delete(was, e.ref)
		} else {
			was[e.ref] = e.before
		}
	}
	old := &store{objects: was}
	var out []event
	for _, r := range old.sorted(test) {
		out = append(out, event{ref: r, after: was[r]})
	}
	return out
}

// ahead reports whether a client asks for what has not happened yet: it knows of a time that a backup has undone.
// store.mu is held.
func (a *API) ahead(q request) bool {
	since, _ := strconv.ParseUint(q.query.Get("resourceVersion"), 10, 64)
	return since > a.store.revision
}

// A follower is one watch.
type follower struct {
	request
	test   func(ref, *unstructured.Unstructured) bool
	writer *io.PipeWriter
	seen   uint64          // revision up to which all was told
	old    int             // how often what there was had been forgotten when it began
	lag    time.Duration   // it is always so late
	by     *operator       // whose it is; nil: nobody's of those
	frail  bool            // it breaks off after one event
	away   <-chan struct{} // closed when the API server goes
}

// errBroken ends a watch that breaks off.
var errBroken = errors.New("this watch breaks off after one event")

// breakTime is how long a watch lasts that breaks off. client-go begins the next one at once: a minute of such watches
// was 70,000 requests.
const breakTime = 100 * time.Millisecond

// A stream is the body of a watch. It ends without an error for who has closed it: watch.Filter of apimachinery never
// ends when it is told of one that nobody waits for.
type stream struct{ *io.PipeReader }

// Read implements io.Reader.
func (s stream) Read(p []byte) (int, error) {
	n, err := s.PipeReader.Read(p)
	if errors.Is(err, io.ErrClosedPipe) {
		err = io.EOF
	}
	return n, err
}

// watch answers with what happens from now on, or since a revision, until the client has enough.
func (a *API) watch(r *http.Request, q request) (*http.Response, error) {
	test, err := q.test()
	if err != nil {
		return failure(r, err)
	}
	reader, writer := io.Pipe()
	f := &follower{request: q, test: test, writer: writer}
	f.by, _ = r.Context().Value(follows{}).(*operator)
	var first []event
	a.store.mu.Lock()
	f.away, f.old, f.frail = a.trouble.away, a.store.expired[q.kind], a.store.now().Before(a.trouble.broken[q.kind.plural])
	if a.lag != nil {
		f.lag = a.lag("watch " + q.kind.plural)
	}
	since, _ := strconv.ParseUint(q.query.Get("resourceVersion"), 10, 64)
	initial := q.query.Get("sendInitialEvents") == "true" || since == 0
	if initial && a.ahead(q) {
		a.store.mu.Unlock()
		return failure(r, errAhead())
	}
	switch {
	case initial:
		first, f.seen = a.store.asOf(a.store.revision, test), a.store.revision
	default:
		f.seen = since
	}
	a.store.mu.Unlock()
	var end <-chan time.Time
	if seconds, err := strconv.Atoi(q.query.Get("timeoutSeconds")); err == nil && seconds > 0 {
		end = time.After(watchTimes * time.Duration(seconds) * time.Second)
	}
	go func() {
		stop := r.Context().Done()
		err := f.begin(first, initial)
		for err == nil {
			err = a.follow(f, stop, end)
		}
		if errors.Is(err, errBroken) {
			select {
			case <-time.After(breakTime):
			case <-f.away:
			case <-stop:
			}
		}
		writer.CloseWithError(io.EOF)
	}()
	return respond(r, http.StatusOK, stream{reader}, -1), nil
}

// begin tells what there is.
func (f *follower) begin(first []event, initial bool) error {
	for _, e := range first {
		if err := f.tell(watch.Added, f.shown(e.after)); err != nil {
			return err
		}
		if f.frail {
			return errBroken
		}
	}
	if initial && f.query.Get("allowWatchBookmarks") == "true" {
		return f.bookmark(map[string]any{metav1.InitialEventsAnnotationKey: "true"})
	}
	return nil
}

// follow tells what has happened since, and waits for more.
func (a *API) follow(f *follower, stop <-chan struct{}, end <-chan time.Time) error {
	a.store.mu.Lock()
	changed, revision := a.store.next(f.kind), max(a.store.revision, f.seen)
	forgotten := f.seen < a.store.oldest[f.kind] || f.old != a.store.expired[f.kind]
	var news []event
	for i := len(a.store.log) - 1; i >= 0 && a.store.log[i].revision > f.seen; i-- {
		news = append(news, a.store.log[i])
	}
	slices.Reverse(news)
	news, seen, next := a.due(f, news, revision)
	now := a.store.now()
	a.store.mu.Unlock()
	if forgotten {
		_ = f.refuse() // it ends anyway
		return io.EOF
	}
	for _, e := range news {
		if err := f.pass(e); err != nil {
			return err
		}
		if f.frail {
			return errBroken
		}
	}
	f.seen = seen
	bookmark := time.NewTimer(bookmarkEvery)
	defer bookmark.Stop()
	var more <-chan time.Time
	if !next.IsZero() {
		more = time.After(next.Sub(now))
	}
	select {
	case <-changed:
		return nil
	case <-more:
		return nil
	case <-f.away:
		return io.EOF
	case <-bookmark.C:
		if f.query.Get("allowWatchBookmarks") == "true" {
			return f.bookmark(nil)
		}
		return nil
	case <-end:
		return io.EOF
	case <-stop:
		return io.EOF
	}
}

// pass tells one event, if it concerns what is watched.
func (f *follower) pass(e event) error {
	was := e.before != nil && f.test(e.ref, e.before)
	is := e.after != nil && f.test(e.ref, e.after)
	switch {
	case is && was:
		return f.tell(watch.Modified, f.shown(e.after))
	case is:
		return f.tell(watch.Added, f.shown(e.after))
	case was:
		gone := atopOf(e.before) // who watches is told the revision of the end, or at which it is another one
		gone.SetResourceVersion(strconv.FormatUint(e.revision, 10))
		return f.tell(watch.Deleted, f.shown(gone))
	}
	return nil
}

func (f *follower) bookmark(annotations map[string]any) error {
	metadata := map[string]any{"resourceVersion": strconv.FormatUint(f.seen, 10)}
	if annotations != nil {
		metadata["annotations"] = annotations
	}
	object := map[string]any{"apiVersion": f.kind.GroupVersion().String(), "kind": f.kind.Kind, "metadata": metadata}
	if f.partial {
		object["apiVersion"], object["kind"] = "meta.k8s.io/v1", "PartialObjectMetadata"
	}
	return f.tell(watch.Bookmark, object)
}

func (f *follower) tell(kind watch.EventType, object any) error {
	line, err := json.Marshal(map[string]any{"type": kind, "object": object})
	if err != nil {
		return err
	}
	_, err = f.writer.Write(append(line, '\n'))
	return err
}
