package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/bindcar"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// granted is the answer to who asks for a token: what it is good for.
func granted(request *unstructured.Unstructured) *unstructured.Unstructured {
	audiences, _, _ := unstructured.NestedStringSlice(request.Object, "spec", "audiences")
	_ = unstructured.SetNestedField(request.Object, strings.Join(audiences, " "), "status", "token")
	return request
}

// A sideway leads from an operator to the sidecars of pods.
type sideway struct{ from *operator }

// RoundTrip implements http.RoundTripper.
func (w sideway) RoundTrip(r *http.Request) (response *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	if r.Method == http.MethodGet {
		if err := w.from.pass(r.Context(), messageTime); err != nil {
			return nil, err
		}
		return w.from.world.nodes.answer(r, body)
	}
	what := fmt.Sprintf("%s%s %s at %s", update, r.Method, r.URL.Path, w.from.world.nodes.name(r.URL.Host))
	err = w.from.effect(r.Context(), messageTime, what, func() error {
		response, err = w.from.world.nodes.answer(r, body) //nolint:bodyclose // it is the caller's
		return err
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// answer is what the sidecar at an address makes of a request.
func (n *nodes) answer(r *http.Request, body []byte) (*http.Response, error) {
	n.mu.Lock()
	p := n.at(r.URL.Host)
	if p != nil && p.silent {
		n.mu.Unlock()
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	defer n.mu.Unlock()
	if p == nil || p.mute {
		return nil, errors.New("connection refused")
	}
	out := httptest.NewRecorder()
	status, answer := p.handle(r, body)
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	if err := json.NewEncoder(out).Encode(answer); err != nil {
		return nil, err
	}
	n.look()
	response := out.Result()
	response.Request = r
	return response, nil
}

func refusal(status int, text string) (int, any) { return status, bindcar.ErrorBody{Error: text} }

// handle answers one request. nodes.mu is held, as for all of this file from here on.
func (p *pod) handle(r *http.Request, body []byte) (int, any) {
	switch {
	case slices.ContainsFunc(r.Header.Values(bindcar.PodHeader), func(uid string) bool { return uid != string(p.uid) }):
		return refusal(http.StatusMisdirectedRequest, "this is another pod")
	case r.Header.Get("Authorization") != "Bearer "+dialect.Audience(p.of.Namespace):
		return refusal(http.StatusUnauthorized, "the token is for somebody else")
	}
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v1/"), "/")
	switch {
	case path[0] == "server" && path[1] == "content":
		return p.contents(r.Method, body)
	case !p.answers(p.nodes.now()):
		return refusal(http.StatusServiceUnavailable, "BIND does not answer")
	case path[0] == "server" && path[1] == "keys":
		return http.StatusOK, bindcar.KeyList{Keys: statuses(p.keys.update, true), Transfer: statuses(p.keys.transfer, false)}
	case path[0] != "zones":
	case len(path) == 1 && r.Method == http.MethodGet:
		list := bindcar.ZoneList{Zones: []string{}}
		for zone := range p.disk.sites {
			list.Zones = append(list.Zones, strings.TrimSuffix(zone.String(), "."))
		}
		slices.Sort(list.Zones)
		return http.StatusOK, list
	case len(path) == 1 && r.Method == http.MethodPost:
		return p.make(body)
	default:
		return p.about(path[1:], r.Method, body)
	}
	return refusal(http.StatusNotFound, "there is no such route")
}

func statuses(keys []bind9.Key, control bool) []bindcar.KeyStatus {
	out := []bindcar.KeyStatus{}
	for _, k := range keys {
		out = append(out, bindcar.KeyStatus{Name: k.Name, ID: k.ID(), Control: control, DNS: true})
	}
	return out
}

// contents is about what the pod is to have before it is ready.
func (p *pod) contents(method string, body []byte) (int, any) {
	d := p.disk
	if method == http.MethodPut {
		var c bindcar.Content
		if err := json.Unmarshal(body, &c); err != nil {
			return refusal(http.StatusBadRequest, err.Error())
		}
		if !p.answers(p.nodes.now()) {
			return refusal(http.StatusServiceUnavailable, "BIND does not answer")
		}
		d.declared, d.of, d.boot, d.content = true, p.uid, p.boot, c.Zones
	}
	return http.StatusOK, bindcar.ContentStatus{Declared: d.declared && d.of == p.uid && d.boot == p.boot,
		Zones: append([]string{}, d.content...)}
}

// make makes a zone.
func (p *pod) make(body []byte) (int, any) {
	var c bindcar.CreateZone
	if err := json.Unmarshal(body, &c); err != nil {
		return refusal(http.StatusBadRequest, err.Error())
	}
	zone, err := dnsname.Parse(c.ZoneName + ".")
	if err != nil {
		return refusal(http.StatusBadRequest, err.Error())
	}
	if p.disk.sites[zone] != nil {
		return refusal(http.StatusConflict, "the zone exists")
	}
	s := &site{primary: c.ZoneType == bindcar.Primary, held: c.Held, asks: p.nodes.now().Add(lookDelay)}
	of := c.ZoneConfig
	s.alsoNotify, s.allowTransfer, s.primaries = listOf(of.AlsoNotify), listOf(of.AllowTransfer), listOf(of.Primaries)
	if of.DNSSECPolicy != nil {
		s.policy = *of.DNSSECPolicy
	}
	if s.primary {
		soa, sets, err := begunWith(c.ZoneConfig)
		if err != nil {
			return refusal(http.StatusBadRequest, err.Error())
		}
		p.disk.zones.AddZone(zone, soa, sets...)
		p.nodes.begin(p.of.Namespace, zone)
	} else {
		p.listed(c.ZoneName)
	}
	p.disk.sites[zone] = s
	p.expect(c.ZoneName, true)
	p.shows(zone, s)
	p.notify(s, zone)
	return http.StatusCreated, bindcar.ZoneResponse{Success: true}
}

func listOf(list *[]string) []string {
	if list == nil {
		return []string{}
	}
	return slices.Clone(*list)
}

// begunWith is what a zone is made with.
func begunWith(c bindcar.ZoneConfig) (soa rr.SOA, sets []rr.Set, err error) {
	of := c.SOA
	if of.Serial == nil || of.Refresh == nil || of.Retry == nil || of.Expire == nil || of.NegativeTTL == nil {
		return soa, nil, errors.New("operators name all numbers of a SOA")
	}
	soa = rr.SOA{TTL: c.TTL, Serial: *of.Serial, Refresh: *of.Refresh, Retry: *of.Retry, Expire: *of.Expire,
		Minimum: *of.NegativeTTL}
	if soa.MName, err = dnsname.Parse(of.PrimaryNS); err == nil {
		soa.RName, err = dnsname.Parse(of.AdminEmail)
	}
	all := map[rr.Key]rr.Set{}
	for _, r := range c.Records {
		name, nameErr := dnsname.Parse(r.Name)
		typ, typeErr := rr.ParseType(r.Type)
		if err := errors.Join(nameErr, typeErr); err != nil {
			return soa, nil, err
		}
		key := rr.Key{Name: name, Type: typ}
		all[key] = rr.NewSet(key, *r.TTL, append(slices.Clone(all[key].Data), r.Value)...)
	}
	for _, set := range all {
		sets = append(sets, set)
	}
	return soa, sets, err
}

// expect has the pod have a zone before it is ready, or not any more.
func (p *pod) expect(zone string, there bool) {
	d := p.disk
	d.content = slices.DeleteFunc(d.content, func(one string) bool { return one == zone })
	if there && d.declared {
		d.content = append(d.content, zone)
	}
}

// about is a call about one zone.
func (p *pod) about(path []string, method string, body []byte) (int, any) {
	zone, err := dnsname.Parse(path[0] + ".")
	if err != nil {
		return refusal(http.StatusBadRequest, err.Error())
	}
	s := p.disk.sites[zone]
	if s == nil {
		p.expect(path[0], false)
		return refusal(http.StatusNotFound, "there is no zone "+path[0])
	}
	verb := ""
	if len(path) > 1 {
		verb = path[1]
	}
	switch {
	case verb == "settings":
		return http.StatusOK, p.settings(s)
	case verb == "" && method == http.MethodPatch:
		return p.modify(zone, s, body)
	case verb == "" && method == http.MethodDelete:
		p.lose(zone)
		p.expect(path[0], false)
	case verb == "notify":
		p.notify(s, zone)
	case verb == "refresh" && !s.primary:
		s.asks = p.nodes.now()
	case verb == "retransfer" && !s.primary:
		p.transfer(zone, s, true)
	default:
		return refusal(http.StatusBadRequest, fmt.Sprintf("nothing is done about %s %q", method, path))
	}
	return http.StatusOK, bindcar.ZoneResponse{Success: true}
}

// lose removes a zone from a disk.
func (p *pod) lose(zone dnsname.Name) {
	_, _ = p.disk.zones.Client(true).Apply(context.Background(), zone, backend.Batch{Remove: true})
	delete(p.disk.sites, zone)
}

func (p *pod) settings(s *site) bindcar.ZoneSettings {
	out := bindcar.ZoneSettings{
		ZoneType: bindcar.Secondary, Own: true, Held: s.held, AlsoNotify: s.alsoNotify, AllowTransfer: []string{},
		AllowUpdate: []string{},
		Primaries:   s.primaries, DNSSECPolicy: s.policy,
	}
	if s.primary { // one of our own keys stands for all of them
		out.ZoneType, out.AllowUpdate = bindcar.Primary, []string{"key " + p.keys.update[0].Name}
	}
	for _, who := range s.allowTransfer {
		if strings.HasPrefix(who, "key ") {
			who = "key " + p.keys.transfer[0].Name
		}
		out.AllowTransfer = append(out.AllowTransfer, who)
	}
	return out
}

// modify changes how BIND has a zone.
func (p *pod) modify(zone dnsname.Name, s *site, body []byte) (int, any) {
	var m bindcar.ModifyZone
	if err := json.Unmarshal(body, &m); err != nil {
		return refusal(http.StatusBadRequest, err.Error())
	}
	for from, into := range map[*[]string]*[]string{m.AlsoNotify: &s.alsoNotify, m.AllowTransfer: &s.allowTransfer,
		m.Primaries: &s.primaries} {
		if from != nil {
			*into = slices.Clone(*from)
		}
	}
	if m.Primaries != nil {
		s.asks = p.nodes.now().Add(lookDelay)
	}
	if m.DNSSECPolicy != nil {
		s.policy = *m.DNSSECPolicy
	}
	if m.Held != nil {
		s.held = *m.Held
		p.shows(zone, s)
	}
	return http.StatusOK, bindcar.ZoneResponse{Success: true}
}
