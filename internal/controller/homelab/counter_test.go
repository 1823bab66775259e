package homelab_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A counter counts what the dialect writes to the API server.
type counter struct {
	mu     sync.Mutex
	paths  []string
	refuse func(path string) bool // writes that do not reach the API server
}

// refuses has writes break off, until it is called with nil.
func (c *counter) refuses(f func(path string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse = f
}

type counted struct {
	http.RoundTripper
	c *counter
}

func (c *counter) wrap(next http.RoundTripper) http.RoundTripper { return counted{next, c} }

func (t counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		t.c.mu.Lock()
		refused := t.c.refuse != nil && t.c.refuse(r.URL.Path)
		if !refused {
			t.c.paths = append(t.c.paths, r.Method+" "+r.URL.Path)
		}
		t.c.mu.Unlock()
		if refused {
			return nil, errors.New("the connection breaks")
		}
	}
	return t.RoundTripper.RoundTrip(r)
}

// take returns the writes since it was called last.
func (c *counter) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.paths = nil }()
	return c.paths
}

func decode(body []byte) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	return u, json.Unmarshal(body, &u.Object)
}
