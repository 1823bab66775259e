package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

// maxAnswer is how much of an answer is read, in octets.
const maxAnswer = 1 << 20

// probe asks one server.
type probe struct {
	cfg     Config
	client  *dnshook.Client // for what is not checked just then
	http    *http.Client
	base    string
	stamp   string
	label   string // below the domain, for the check that is being made
	made    []dnshook.ID
	invalid []dnshook.ID // what the server should have refused, and took
}

func newProbe(cfg Config) (*probe, error) {
	if cfg.Now == nil {
		return nil, errors.New("conformance: Config.Now is not set")
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	c := dnshook.ClientConfig{Server: cfg.Server, Timeout: cfg.Timeout, Now: cfg.Now}
	if cfg.Key != nil {
		if err := cfg.Key.Validate(); err != nil {
			return nil, err
		}
		c.Keys = func() (dnshook.Key, error) { return *cfg.Key, nil }
	}
	client, err := dnshook.NewClient(c)
	if err != nil {
		return nil, err
	}
	p := &probe{
		cfg: cfg, client: client, base: strings.TrimRight(cfg.Server, "/"),
		stamp: cmp.Or(cfg.Stamp, "zonefold-"+dnshook.NewNonce()[:8]),
		http: &http.Client{
			Transport: &http.Transport{MaxIdleConnsPerHost: crowd}, Timeout: cfg.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if _, err := p.record("A", "x", "192.0.2.1").Canonical(); err != nil {
		return nil, fmt.Errorf("the domain %q cannot be used: %w", cfg.Domain, err)
	}
	return p, nil
}

func (p *probe) close() {
	p.client.Close()
	p.http.CloseIdleConnections()
}

// record is one of a check's own, at a name that starts with prefix.
func (p *probe) record(kind, prefix string, values ...string) dnshook.Record {
	label := cmp.Or(p.label, p.stamp)
	r := dnshook.Record{Type: kind, Domain: p.cfg.Domain, Subdomain: strings.TrimSuffix(prefix+label, "."), Values: values,
		TTL: 300}
	p.made = append(p.made, r.ID())
	return r
}

// own is the record that most checks use.
func (p *probe) own() dnshook.Record { return p.record("A", "", "192.0.2.1") }

// call is a request that may be wrong.
type call struct {
	method, path string
	body         []byte
	key          *dnshook.Key
	at           time.Time
	nonce        string
	change       func(*http.Request) // after it was signed
}

// bodyOf is the body of an upsert, with its members in the order in which all clients send them.
func bodyOf(r dnshook.Record) []byte {
	body, err := json.Marshal(struct {
		Record    dnshook.Record `json:"record"`
		Operation string         `json:"operation"`
	}{r, "upsert"})
	if err != nil {
		panic(err) // it has nothing but text and numbers
	}
	return body
}

func (p *probe) make(method, path string, body []byte) call {
	return call{method: method, path: path, body: body, key: p.cfg.Key, at: p.cfg.Now(), nonce: dnshook.NewNonce()}
}

func (p *probe) get(path string) call { return p.make(http.MethodGet, path, nil) }

func (p *probe) upsert(r dnshook.Record) call {
	return p.make(http.MethodPost, "/records", bodyOf(r))
}

func (p *probe) remove(id dnshook.ID) call { return p.make(http.MethodDelete, id.Path(), nil) }

// said is an answer.
type said struct {
	status int
	header http.Header
	text   string
	json   bool // it is an object
	reused bool // it came over a connection that was there

	Success *bool           `json:"success"`
	Record  *dnshook.Record `json:"record"`
	Message string          `json:"message"`
	Error   *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Status   string   `json:"status"`
	Features []string `json:"features"`
	Results  []said   `json:"results"`
}

func (p *probe) send(ctx context.Context, c call) (said, error) {
	var out said
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		out.reused = i.Reused
	}})
	r, err := http.NewRequestWithContext(ctx, c.method, p.base+c.path, bytes.NewReader(c.body))
	if err != nil {
		return out, err
	}
	if len(c.body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.key != nil {
		if err := c.key.SignRequest(r, c.body, c.at, c.nonce); err != nil {
			return out, err
		}
	}
	if c.change != nil {
		c.change(r)
	}
	response, err := p.http.Do(r)
	if err != nil {
		return out, fmt.Errorf("it does not answer %s %s: %w", c.method, c.path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return out, fmt.Errorf("its answer to %s %s breaks off: %w", c.method, c.path, err)
	}
	out.status, out.header, out.text = response.StatusCode, response.Header, string(text)
	out.json = json.Unmarshal(text, &out) == nil && strings.HasPrefix(strings.TrimSpace(out.text), "{")
	return out, nil
}

// String is the answer for people, on one line.
func (s said) String() string {
	text := strings.Join(strings.Fields(s.text), " ")
	if len(text) > 120 {
		text = text[:120] + "…"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", s.status, text))
}

// well says why an answer is no success; a server may leave its JSON out here.
func (s said) well() error {
	if s.status/100 != 2 || s.json && s.Success != nil && !*s.Success {
		return fmt.Errorf("it answers %s; want 200", s)
	}
	return nil
}

// refusal says why an answer is not the right no: one of some statuses, with one of some codes.
func (s said) refusal(statuses []int, codes ...string) error {
	want := fmt.Sprintf("want %s with the code %s", strings.Trim(fmt.Sprint(statuses), "[]"), strings.Join(codes, " or "))
	switch {
	case s.well() == nil:
		return fmt.Errorf("it does not refuse it and answers %s; %s", s, want)
	case !slices.Contains(statuses, s.status):
		return fmt.Errorf("it refuses it with %s; %s", s, want)
	case !s.json || s.Error == nil:
		return fmt.Errorf("it refuses it with %s, which is not JSON with an error; %s", s, want)
	case s.Success == nil || *s.Success:
		return fmt.Errorf(`it answers %s, which lacks "success":false`, s)
	case !slices.Contains(codes, s.Error.Code):
		return fmt.Errorf("it answers %d with the code %q; %s", s.status, s.Error.Code, want)
	case s.Error.Message == "":
		return fmt.Errorf("it answers %s, which has no message for people", s)
	}
	return nil
}

// refused sends what is to be refused.
func (p *probe) refused(ctx context.Context, c call, statuses []int, codes ...string) error {
	got, err := p.send(ctx, c)
	if err != nil {
		return err
	}
	return got.refusal(statuses, codes...)
}

// taken sends what is to be done.
func (p *probe) taken(ctx context.Context, c call) error {
	got, err := p.send(ctx, c)
	if err != nil {
		return err
	}
	return got.well()
}

// succeeds returns the answer to a call, or what keeps it from being one of success as the document has it.
func (p *probe) succeeds(ctx context.Context, c call) (said, error) {
	got, err := p.send(ctx, c)
	switch {
	case err != nil:
		return got, err
	case got.status != http.StatusOK:
		return got, fmt.Errorf("it answers %s; want 200", got)
	case !got.json || got.Success == nil || !*got.Success:
		return got, fmt.Errorf(`it answers %s; want JSON with "success":true`, got)
	}
	return got, nil
}

// shows says why the server does not show a record as it is to be; nil where it shows none at all.
func (p *probe) shows(ctx context.Context, want dnshook.Record) error {
	got, there, err := p.client.Get(ctx, want.ID())
	switch {
	case errors.Is(err, dnshook.ErrNoGet):
		return nil
	case err != nil:
		return err
	case !there:
		return fmt.Errorf("%s was made, and GET does not find it", want.ID())
	}
	return same(got, want)
}

// same compares what was asked for with what is shown: values in any order, and written in any way that means the same.
func same(got, want dnshook.Record) error {
	got.Type, got.Domain, got.Subdomain = cmp.Or(got.Type, want.Type), cmp.Or(got.Domain, want.Domain),
		cmp.Or(got.Subdomain, want.Subdomain)
	a, err := got.Canonical()
	if err != nil {
		return fmt.Errorf("the record that it shows is not valid: %w", err)
	}
	b, err := want.Canonical()
	if err != nil {
		return err
	}
	aData, aErr := a.Data()
	bData, bErr := b.Data()
	slices.Sort(aData)
	slices.Sort(bData)
	if a.ID().String() != b.ID().String() || !slices.Equal(aData, bData) || aErr != nil || bErr != nil {
		return fmt.Errorf("it shows %s with %s where %s has %s", a.ID(), strings.Join(aData, ", "), b.ID(),
			strings.Join(bData, ", "))
	}
	if got.TTL != 0 && a.TTL != b.TTL {
		return fmt.Errorf("it shows %s with the ttl %d where it has %d", a.ID(), a.TTL, b.TTL)
	}
	return nil
}

// gone says why a record is still there; nil where the server shows none at all.
func (p *probe) gone(ctx context.Context, id dnshook.ID) error {
	_, there, err := p.client.Get(ctx, id)
	switch {
	case errors.Is(err, dnshook.ErrNoGet):
		return nil
	case err == nil && there:
		return fmt.Errorf("%s was deleted, and GET still shows it", id)
	}
	return err
}

// cleanUp deletes all that was perhaps made, and says what stays.
func (p *probe) cleanUp(ctx context.Context) error {
	done := map[dnshook.ID]bool{}
	var left []string
	for _, id := range p.made {
		if _, err := id.Canonical(); err != nil || done[id] {
			continue
		}
		done[id] = true
		err := p.client.Delete(ctx, id)
		if dnshook.CodeOf(err) == dnshook.CodeInvalidRecord {
			err = nil
		}
		if err == nil {
			err = p.gone(ctx, id)
		}
		if err != nil {
			left = append(left, fmt.Sprintf("%s (%v)", id, err))
		}
	}
	for _, id := range p.invalid {
		if err := p.discard(ctx, id); err != nil {
			left = append(left, fmt.Sprintf("%q (%v)", id.String(), err))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("not all records are gone; remove them by hand: %s", strings.Join(left, "; "))
	}
	return nil
}

// discard deletes a record that no server should have taken. The client would not ask for it.
func (p *probe) discard(ctx context.Context, id dnshook.ID) error {
	path := "/records/" + url.PathEscape(id.Type) + "/" + url.PathEscape(id.Domain) + "/" + url.PathEscape(id.Subdomain)
	got, err := p.send(ctx, p.make(http.MethodDelete, path, nil))
	if err == nil && got.status != http.StatusNotFound {
		err = got.well()
	}
	if err != nil {
		return err
	}
	if got, err = p.send(ctx, p.get(path)); err == nil && got.well() == nil && got.Record != nil {
		return errors.New("it was deleted, and GET still shows it")
	}
	return err
}
