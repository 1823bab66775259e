package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	plainJSON  = "application/json"
	mergePatch = "application/merge-patch+json"
	jsonPatch  = "application/json-patch+json"
	applyPatch = "application/apply-patch+yaml"

	partialObject = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	partialList   = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// An operation is one request, which names versions as the side that it goes to knows them.
type operation struct {
	method, contentType, accept string
	path                        func(*side) string
	body                        func(*side) any
}

// sameForBoth is an operation that is the same for both.
func sameForBoth(method, path string, body any) operation {
	return operation{method: method, contentType: plainJSON, path: func(*side) string { return path },
		body: func(*side) any { return body }}
}

// A side is one of the two API servers, and what it said last of each object.
type side struct {
	server    string
	transport http.RoundTripper
	was       map[string]map[string]any // metadata by name
	stale     map[string]string         // a resourceVersion of before
	next      string                    // what continues the last page
	listed    string                    // the resourceVersion of the last list
	unmanaged bool                      // who set what is not compared
	names     map[string]string         // what versions and UIDs are called here and there
}

func newSide(server string, transport http.RoundTripper) *side {
	return &side{server: server, transport: transport, was: map[string]map[string]any{}, stale: map[string]string{},
		names: map[string]string{}}
}

// ask sends a request.
func (s *side) ask(t *testing.T, o operation) *http.Response {
	t.Helper()
	var text []byte
	if body := o.body(s); body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), o.method, s.server+o.path(s), bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", o.contentType)
	r.Header.Set("User-Agent", "truth/1")
	if o.accept != "" {
		r.Header.Set("Accept", o.accept)
	}
	response, err := s.transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// do asks, and returns the answer without what differs from server to server.
func (s *side) do(t *testing.T, o operation) (status int, told any) {
	t.Helper()
	response := s.ask(t, o)
	defer response.Body.Close()
	if response.StatusCode == http.StatusTooManyRequests { // a kind that is new is not served at once
		<-time.After(100 * time.Millisecond)
		return s.do(t, o)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s %s: %s", o.method, o.path(s), text)
	}
	if answer["kind"] == "Status" {
		return response.StatusCode, refused(answer)
	}
	return response.StatusCode, s.heard(answer)
}

// refused is what clients decide by; words differ.
func refused(status map[string]any) any {
	out := map[string]any{"status": status["status"], "reason": status["reason"]}
	details, _ := status["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	for _, c := range causes {
		if one, ok := c.(map[string]any); ok {
			out[fmt.Sprint(one["reason"], " ", one["field"])] = true
		}
	}
	return out
}

// heard keeps what is needed to name a version, and returns the rest.
func (s *side) heard(answer map[string]any) any {
	meta, _ := answer["metadata"].(map[string]any)
	items, _ := answer["items"].([]any)
	if kind, _ := answer["kind"].(string); !strings.HasSuffix(kind, "List") {
		s.remember(meta)
		return s.alike(answer)
	}
	s.next, _ = meta["continue"].(string)
	s.listed, _ = meta["resourceVersion"].(string)
	out := []any{answer["apiVersion"], answer["kind"], s.next != ""}
	for _, i := range items {
		object, _ := i.(map[string]any)
		meta, _ := object["metadata"].(map[string]any)
		s.call(meta)
		out = append(out, s.alike(object))
	}
	return out
}

// remember keeps what an answer said of an object.
func (s *side) remember(meta map[string]any) {
	name, ok := meta["name"].(string)
	if !ok {
		return
	}
	if was := s.was[name]; was != nil && was["resourceVersion"] != meta["resourceVersion"] {
		s.stale[name], _ = was["resourceVersion"].(string)
	}
	s.was[name] = meta
	s.call(meta)
}

// call gives the version and the UID of an object the names that they have at both.
func (s *side) call(meta map[string]any) {
	for _, field := range []string{"uid", "resourceVersion"} {
		if value, ok := meta[field].(string); ok && value != "" && s.names[field+value] == "" {
			s.names[field+value] = fmt.Sprintf("the one that is number %d", len(s.names))
		}
	}
}

// alike is an object without what differs from server to server.
func (s *side) alike(object map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range object {
		if key != "metadata" {
			out[key] = value
			continue
		}
		meta := map[string]any{}
		for key, value := range value.(map[string]any) {
			switch key {
			case "creationTimestamp", "deletionTimestamp":
				meta[key] = value != nil
			case "uid", "resourceVersion":
				text, _ := value.(string)
				meta[key] = s.names[key+text]
			case "managedFields":
				if !s.unmanaged {
					meta[key] = s.named(timesOut(value))
				}
			case "ownerReferences":
				meta[key] = s.named(value)
			default:
				meta[key] = value
			}
		}
		out[key] = meta
	}
	return out
}

// named is a value in which UIDs have the names that they have at both.
func (s *side) named(value any) (out any) {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	for what, name := range s.names {
		if uid, is := strings.CutPrefix(what, "uid"); is {
			text = bytes.ReplaceAll(text, []byte(uid), []byte(name))
		}
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return err
	}
	return out
}

// timesOut are managed fields without their times. They come in the order of seconds, of which each side has its own.
func timesOut(fields any) []any {
	all, _ := fields.([]any)
	for _, f := range all {
		if one, ok := f.(map[string]any); ok {
			delete(one, "time")
		}
	}
	return slices.SortedFunc(slices.Values(all), func(a, b any) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
}
