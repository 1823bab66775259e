package sim

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A service has an API that operators reach with the client that they have for it. It is the server that the tests of
// that client have. What it holds is what a name server of its host has, which is judged as any other. These are its
// steps:
//
//	service dns.googleapis.com example.org.      it begins, with a zone; foreign sets as those of a server
//	credentials dns.googleapis.com a/one         a Secret has its credentials, as they are now
//	rotate dns.googleapis.com                    it knows others from now on
//	throttle dns.googleapis.com                  it is asked too often, and refuses
//	down dns.googleapis.com                      nobody answers there
//	lost dns.googleapis.com                      it does what it is told, and answers 502
//	up dns.googleapis.com                        it is well again
type service struct {
	provider
	world *World
	at    string
	zone  dnsname.Name
	state string // "": it is well; otherwise down or lost; World.mu guards it

	mu     sync.Mutex // a request is judged before the next one is served
	mirror *backendtest.Memory
}

// A provider is a server that behaves as a service does.
type provider interface {
	http.Handler
	credentials() map[string]string
	rotate()
	throttle(on bool)
	put(set rr.Set)         // as somebody else does
	sets() (rr.Sets, error) // what resolvers would be told, with or without its own SOA and name servers
}

// offer has a service begin.
func (w *World) offer(at, zone, foreign string) error {
	kind, known := providers()[at]
	if !known {
		return errors.New("there is no such service")
	}
	name, err := dnsname.Parse(zone)
	if err != nil {
		return err
	}
	p := kind.begin(w.api.store.now, strings.TrimSuffix(zone, "."))
	for line := range strings.Lines(foreign) {
		set, err := setOf(strings.Fields(line))
		if err != nil {
			return err
		}
		p.put(set)
	}
	if err := w.serveKind(at, "", name, kind.limits, foreign); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.services[at] = &service{provider: p, world: w, at: at, zone: name, mirror: w.servers[at].Memory}
	return nil
}

// overHTTP reports whether a step is one of a service or of a webhook.
func (w *World) overHTTP(words []string) bool {
	return words[0] == "webhook" || words[0] == "service" ||
		len(words) > 1 && (w.hooks[words[1]] != nil || w.services[words[1]] != nil)
}

func (w *World) stepOverHTTP(ctx context.Context, words []string, data string) error {
	switch {
	case words[0] == "webhook":
		return w.hook(words)
	case words[0] == "service" && len(words) == 3:
		return w.offer(words[1], words[2], data)
	case words[0] == "service":
		return errors.New("the host and the zone are missing")
	case w.hooks[words[1]] != nil:
		return w.hooks[words[1]].step(words)
	}
	return w.services[words[1]].step(ctx, words)
}

// step does what happens to a service.
func (s *service) step(ctx context.Context, words []string) error {
	switch words[0] {
	case "credentials":
		if len(words) != 3 {
			return errors.New("the Secret is missing")
		}
		return s.entrust(ctx, words[2])
	case "rotate":
		s.rotate()
	case "throttle":
		s.throttle(true)
	case "down", "lost", "up":
		s.throttle(false)
		s.world.mu.Lock()
		defer s.world.mu.Unlock()
		s.state = words[0]
	default:
		return errors.New("there is no such step")
	}
	return nil
}

// entrust puts credentials into a Secret.
func (s *service) entrust(ctx context.Context, secret string) error {
	namespace, name, _ := strings.Cut(secret, "/")
	data := map[string]string{}
	for key, value := range s.credentials() {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Secret", "data": data,
		"metadata": map[string]string{"namespace": namespace, "name": name}})
	if err != nil {
		return err
	}
	return s.world.apply(ctx, string(text))
}

// A call is the way from an operator to services.
type call struct{ from *operator }

// RoundTrip implements http.RoundTripper.
func (c call) RoundTrip(r *http.Request) (response *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		body, err = io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
	}
	world, at := c.from.world, r.URL.Hostname()
	if at == tokenHost {
		at = googleHost
	}
	world.mu.Lock()
	s := world.services[at]
	world.mu.Unlock()
	if s == nil {
		return nil, fmt.Errorf("there is no host %s", r.URL.Host)
	}
	if r.Method == http.MethodGet || r.URL.Hostname() == tokenHost {
		if err := c.from.pass(r.Context(), messageTime+world.delay(r.Method+" "+r.URL.Path+" at "+at)); err != nil {
			return nil, err
		}
		return s.answer(r, body)
	}
	err = c.from.effect(r.Context(), messageTime, update+r.Method+" "+r.URL.Path+" at "+at, func() error {
		response, err = s.answer(r, body) //nolint:bodyclose // it is the caller's
		return err
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// answer is what a service makes of a request.
func (s *service) answer(r *http.Request, body []byte) (*http.Response, error) {
	s.world.mu.Lock()
	state := s.state
	s.world.mu.Unlock()
	if state == "down" {
		return nil, errors.New("connection refused")
	}
	in := r.Clone(r.Context())
	in.Body, in.RequestURI = io.NopCloser(bytes.NewReader(body)), r.URL.RequestURI()
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	out := httptest.NewRecorder()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ServeHTTP(out, in)
	if err := s.reflect(r.Context()); err != nil {
		s.world.fail(fmt.Sprintf("%s: %v", s.at, err))
	}
	if state == "lost" && r.Method != http.MethodGet {
		out = httptest.NewRecorder()
		out.WriteHeader(http.StatusBadGateway)
	}
	answer := out.Result()
	answer.Request = r
	return answer, nil
}

// reflect has the name server that is judged have what the service has. mu is held.
func (s *service) reflect(ctx context.Context) error {
	is, err := s.sets()
	if err != nil {
		return err
	}
	_, was, _ := s.mirror.Truth(s.zone)
	var changes []plan.Change
	seen := map[rr.Key]bool{}
	for _, key := range keysOf(was, is) {
		before, _ := was.Get(key)
		after, _ := is.Get(key)
		own := key.Type == rr.TypeSOA || key == rr.Key{Name: s.zone, Type: rr.TypeNS}
		if !own && !seen[key] && !before.Equal(after) {
			changes = append(changes, plan.Change{Key: key, Have: before, Want: after})
		}
		seen[key] = true
	}
	if len(changes) == 0 {
		return nil
	}
	_, err = s.mirror.Client(true).Apply(onTheWire(ctx), s.zone, backend.Batch{Changes: changes})
	return err
}
