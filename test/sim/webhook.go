package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
)

// A webhook is a server of DNSClasses: the handler of package dnshook, which checks signatures, in front of records in
// memory. These are its steps:
//
//	webhook dns.example SECRET    it begins, or knows another key from now on
//	down dns.example              nobody answers there
//	silent dns.example            it takes requests, and does not answer them
//	ill dns.example               it answers 500
//	lost dns.example              it does what it is told, and answers 502
//	refuse dns.example VALUE      it takes no records with a value from now on
//	blind dns.example             it does not say what it has
//	up dns.example                it is well again; only blind it stays
//	keep dns.example              its content is kept, as a backup is
//	lose dns.example              it has the content that was kept last, or nothing
type webhook struct {
	at      string
	records *dnshook.Memory
	handler *dnshook.Handler
	world   *World
	key     string
	state   string // "": it is well; otherwise down, silent, ill or lost
	blind   bool
	refused string // a value that it does not take; "": none
	kept    []dnshook.Record
}

// hook makes a webhook, or gives it another key.
func (w *World) hook(words []string) error {
	if len(words) != 3 {
		return errors.New("the host and the key are missing")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.hooks[words[1]]; h != nil {
		h.key = words[2]
		return nil
	}
	h := &webhook{at: words[1], records: &dnshook.Memory{}, world: w, key: words[2]}
	var err error
	h.handler, err = dnshook.NewHandler(dnshook.HandlerConfig{Provider: h.records, Now: backend.SystemClock{}.Now,
		Keys: func() ([]dnshook.Key, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return []dnshook.Key{{Secret: []byte(h.key)}}, nil
		}})
	w.hooks[words[1]] = h
	return err
}

// step does what happens to a webhook.
func (h *webhook) step(words []string) error {
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	switch words[0] {
	case "down", "silent", "ill", "lost":
		h.state = words[0]
	case "up":
		h.state = ""
	case "blind":
		h.blind = true
	case "refuse":
		if len(words) != 3 {
			return errors.New("the value is missing")
		}
		h.refused = words[2]
		h.world.eyes.refuses(h.at, h.refused)
	case "keep":
		h.kept = h.records.Records()
	case "lose":
		h.world.eyes.loses()
		return h.lose()
	default:
		return errors.New("there is no such step")
	}
	return nil
}

// lose puts what was kept in the place of what there is.
func (h *webhook) lose() error {
	ctx, before := context.Background(), h.records.Records()
	defer func() { h.world.eyes.hooked(h.at, before, h.records.Records(), true) }()
	for _, r := range h.records.Records() {
		if err := h.records.Delete(ctx, r.ID()); err != nil {
			return err
		}
	}
	for _, r := range h.kept {
		if err := h.records.Upsert(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// content is what a webhook has.
func (h *webhook) content() string {
	var out strings.Builder
	for _, r := range h.records.Records() {
		fmt.Fprintf(&out, " %s %d %s", r.ID(), r.TTL, strings.Join(r.Values, ", "))
		if m := r.Metadata; m != nil {
			for _, n := range []*uint16{m.Priority, m.Weight, m.Port} {
				if n != nil {
					fmt.Fprintf(&out, " %d", *n)
				}
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

// A wire leads from an operator to webhooks.
type wire struct{ from *operator }

// RoundTrip implements http.RoundTripper.
func (w wire) RoundTrip(r *http.Request) (response *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	world := w.from.world
	world.mu.Lock()
	h := world.hooks[r.URL.Host]
	world.mu.Unlock()
	if h == nil {
		return nil, fmt.Errorf("there is no host %s", r.URL.Host)
	}
	if r.Method == http.MethodGet {
		if err := w.from.pass(r.Context(), messageTime+world.delay("GET "+r.URL.Path+" at "+r.URL.Host)); err != nil {
			return nil, err
		}
		return h.answer(r, body)
	}
	err = w.from.effect(r.Context(), messageTime, update+r.Method+" "+r.URL.Path+" at "+r.URL.Host, func() error {
		response, err = h.answer(r, body) //nolint:bodyclose // it is the caller's
		return err
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// answer is what a webhook makes of a request.
func (h *webhook) answer(r *http.Request, body []byte) (*http.Response, error) {
	h.world.mu.Lock()
	state, blind, refused := h.state, h.blind, h.refused
	h.world.mu.Unlock()
	out := httptest.NewRecorder()
	switch {
	case state == "down":
		return nil, errors.New("connection refused")
	case state == "silent":
		<-r.Context().Done()
		return nil, r.Context().Err()
	case state == "ill":
		out.WriteHeader(http.StatusInternalServerError)
	case blind && r.Method == http.MethodGet && !strings.HasSuffix(r.URL.Path, "/health"):
		out.WriteHeader(http.StatusMethodNotAllowed)
	case refused != "" && r.Method == http.MethodPost && bytes.Contains(body, []byte(`"`+refused+`"`)):
		out.WriteHeader(http.StatusBadRequest)
		_, _ = out.WriteString(`{"success":false,"error":{"code":"INVALID_VALUE","message":"it takes no such value"}}`)
	default:
		in := r.Clone(r.Context())
		in.Body, in.RequestURI = io.NopCloser(bytes.NewReader(body)), r.URL.RequestURI()
		before := h.records.Records()
		h.handler.ServeHTTP(out, in)
		if r.Method != http.MethodGet {
			h.world.eyes.hooked(h.at, before, h.records.Records(), false)
		}
		if state == "lost" {
			out = httptest.NewRecorder()
			out.WriteHeader(http.StatusBadGateway)
		}
	}
	answer := out.Result()
	answer.Request = r
	return answer, nil
}

// hooked looks at DNSRecords when all is calm: a server has what is Ready, and nothing else. mu is held.
func (w *World) hooked(objects map[ref]*unstructured.Unstructured) {
	wanted := map[string]bool{}
	for r, object := range objects {
		if r.kind.Kind != "DNSRecord" || !ready(object) {
			continue
		}
		id := placeOf(object, objects)
		wanted[id] = true
		if !w.hookHas(object, id) {
			w.wrong = append(w.wrong, fmt.Sprintf("%s is Ready, and no server of its class has it", r))
		}
	}
	for at, h := range w.hooks {
		for _, r := range h.records.Records() {
			if id := at + " " + r.ID().String(); !wanted[id] {
				w.wrong = append(w.wrong, "nobody wants "+id)
			}
		}
	}
}

// placeOf says where a DNSRecord is: host, type and name, by its status, or, where another object has sent the set that
// it shares, as its spec has it.
func placeOf(object *unstructured.Unstructured, all map[ref]*unstructured.Unstructured) string {
	applied := texts(object, "status", "applied")
	if len(applied) == 0 {
		applied = texts(object, "spec")
		class, _, _ := unstructured.NestedString(object.Object, "spec", "dnsClassRef", "name")
		for r, other := range all {
			if r.kind.Kind == "DNSClass" && r.Name == class {
				applied["server"] = texts(other, "spec")["server"]
			}
		}
	}
	host := strings.TrimPrefix(applied["server"], "http://")
	return host + " " + dnshook.ID{Type: applied["type"], Domain: applied["domain"],
		Subdomain: applied["subdomain"]}.String()
}

// hookHas reports whether the server at a place has the values that a DNSRecord names. mu is held.
func (w *World) hookHas(object *unstructured.Unstructured, place string) bool {
	values, _, _ := unstructured.NestedStringSlice(object.Object, "spec", "values")
	host, id, _ := strings.Cut(place, " ")
	h := w.hooks[host]
	if h == nil {
		return false
	}
	for _, r := range h.records.Records() {
		if r.ID().String() != id {
			continue
		}
		for _, v := range values {
			if !strings.Contains(" "+strings.Join(r.Values, " ")+" ", " "+v+" ") {
				return false
			}
		}
		return true
	}
	return false
}
