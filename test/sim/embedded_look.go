package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// looks are when replicas are asked after something has happened: their copies are a few messages away.
var looks = []time.Duration{0, 3 * time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second,
	10 * time.Second}

// A replica is the name server of an operator, as it was seen from outside.
type replica struct {
	of    *operator
	at    string
	began time.Time
	open  bool // it has answered
	seen  map[dnsname.Name]seen
}

type seen struct {
	serial uint32
	age    int
	sets   rr.Sets
}

// watch has replicas be looked at, if operators have name servers of their own, until end is called.
func (w *World) watch(ctx context.Context) (end func()) {
	if !w.embedded {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		w.observe(ctx)
	}()
	return func() {
		cancel()
		<-over
	}
}

// observe looks at all replicas whenever something has happened, until the context ends.
func (w *World) observe(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.happened:
		}
		for i := 0; i < len(looks) && ctx.Err() == nil; i++ {
			select {
			case <-ctx.Done():
				return
			case <-w.happened:
				i = 0
			case <-time.After(looks[i]):
			}
			w.look(ctx)
		}
	}
}

// happens has replicas be looked at.
func (w *World) happens() {
	select {
	case w.happened <- struct{}{}:
	default:
	}
}

// look asks all replicas what they have.
func (w *World) look(ctx context.Context) {
	w.mu.Lock()
	all := slices.Clone(w.replicas)
	zones := slices.SortedFunc(maps.Keys(w.chronicles), dnsname.Name.Compare)
	w.mu.Unlock()
	for _, r := range all {
		if w.silent(r) {
			continue
		}
		w.ask(ctx, r, zones)
	}
}

// ask asks one replica for some zones.
func (w *World) ask(ctx context.Context, r *replica, zones []dnsname.Name) {
	answered, lacking := false, []dnsname.Name{}
	for _, zone := range zones {
		has, serial, err := w.question(ctx, r.at, zone)
		switch {
		case ctx.Err() != nil || w.silent(r):
			return
		case err != nil:
			if r.open {
				w.fail(fmt.Sprintf("%s has answered, and does not any more: %v", r, err))
			}
			return
		case !has:
			answered = true
			delete(r.seen, zone)
			lacking = append(lacking, zone)
		default:
			answered = true
			if was, there := r.seen[zone]; there && was.serial == serial {
				continue
			}
			w.transfer(ctx, r, zone)
		}
	}
	if !answered {
		return
	}
	for _, zone := range lacking {
		if !r.open && w.expected(zone, r.began) {
			w.fail(fmt.Sprintf("%s answers, and does not have %s yet", r, zone))
		}
	}
	r.open = true
}

// silent reports whether a replica is not asked: its process is stopped, has ended, or has not begun to listen.
func (w *World) silent(r *replica) bool {
	w.mu.Lock()
	l := w.listeners[r.at]
	w.mu.Unlock()
	return l == nil || l.ended() || r.of.stopped()
}

func (r *replica) String() string { return "the name server at " + r.at }

// expected reports whether a zone was there already at a time, and is, and is wanted, and nobody has gone on since then
// after a pause.
func (w *World) expected(zone dnsname.Name, at time.Time) bool {
	wanted := w.wanted(zone)
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.chronicles[zone]
	return wanted && !c.gone && c.ages[len(c.ages)-1].began.Before(at) && w.crew.lastWentOn().Before(at)
}

// called reports whether a Zone has a name, whether it is delivered or not.
func (w *World) called(zone dnsname.Name) bool {
	return w.anyZone(zone, func(*unstructured.Unstructured) bool { return true })
}

// wanted reports whether a Zone of a name is delivered by an object that is to stay.
func (w *World) wanted(zone dnsname.Name) bool { return w.anyZone(zone, ready) }

// anyZone reports whether a Zone of a name is to stay of which something is true.
func (w *World) anyZone(zone dnsname.Name, is func(*unstructured.Unstructured) bool) bool {
	w.api.store.mu.Lock()
	defer w.api.store.mu.Unlock()
	for r, object := range w.api.store.objects {
		if r.kind.Kind != "Zone" || r.kind.Group != "kubi.zone" || object.GetDeletionTimestamp() != nil {
			continue
		}
		if name, _, _ := unstructured.NestedString(object.Object, "spec", "domainName"); name == zone.String() &&
			is(object) {
			return true
		}
	}
	return false
}

// question asks whether a name server has a zone. One that has the zone above, and delegates it, answers with a
// referral.
func (w *World) question(ctx context.Context, at string, zone dnsname.Name) (has bool, serial uint32, err error) {
	stream, err := w.dial(ctx, nil, at)
	if err != nil {
		return false, 0, err
	}
	defer func() { _ = stream.Close() }()
	if err := stream.SetDeadline(w.api.store.now().Add(answerTime)); err != nil {
		return false, 0, err
	}
	m, c := new(dns.Msg), dns.Conn{Conn: stream}
	m.SetQuestion(zone.String(), dns.TypeSOA)
	if err := c.WriteMsg(m); err != nil {
		return false, 0, err
	}
	answer, err := c.ReadMsg()
	if err != nil {
		return false, 0, err
	}
	if answer.Rcode == dns.RcodeServerFailure {
		return false, 0, errors.New("it answers SERVFAIL")
	}
	for _, record := range answer.Answer {
		if soa, ok := record.(*dns.SOA); ok {
			has, serial = true, soa.Serial
		}
	}
	return has, serial, nil
}

// transfer looks at all that a replica has of a zone.
func (w *World) transfer(ctx context.Context, r *replica, zone dnsname.Name) {
	c, err := rfc2136.New(rfc2136.Config{
		Server: r.at, Now: w.api.store.now, Dial: func(ctx context.Context, _, address string) (net.Conn, error) {
			return w.dial(ctx, nil, address)
		},
	})
	if err != nil {
		w.fail(err.Error())
		return
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	got, err := c.Pull(ctx, zone, nil)
	if err != nil {
		return // it may not be transferred, or is gone by now
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := seen{got.SOA.Serial, w.chronicles[zone].ageOf(got.SOA.Serial, got.Sets, zone), got.Sets}
	was, there := r.seen[zone]
	r.seen[zone] = now
	switch {
	case now.age < 0:
		w.wrong = append(w.wrong, fmt.Sprintf("%s has under serial %d of %s what no leader had: %s", r, now.serial, zone,
			strings.TrimSpace(contentOf(got.Sets))))
	case there && rr.SerialLess(now.serial, was.serial) && now.age <= was.age:
		w.wrong = append(w.wrong, fmt.Sprintf("%s has serial %d of %s after %d", r, now.serial, zone, was.serial))
	}
}

// replicated returns what the replicas have in the end, which is the same.
func (w *World) replicated(ctx context.Context) string {
	w.look(ctx)
	first := ""
	for _, r := range w.replicas {
		if w.silent(r) {
			continue
		}
		var out strings.Builder
		for _, zone := range slices.SortedFunc(maps.Keys(r.seen), dnsname.Name.Compare) {
			fmt.Fprintf(&out, " %s\n%s", zone, contentOf(r.seen[zone].sets))
			// Who led next may have copied a zone that was removed for a moment before it heard of that, and go on with it.
			last := w.chronicles[zone]
			if serial := last.ages[len(last.ages)-1].last; last.gone && !w.wanted(zone) || serial != r.seen[zone].serial {
				w.fail(fmt.Sprintf("%s has serial %d of %s, where the last is %d", r, r.seen[zone].serial, zone, serial))
			}
			if !w.called(zone) {
				w.fail(fmt.Sprintf("%s has %s in the end, which no Zone is", r, zone))
			}
		}
		switch text := out.String(); {
		case !r.open && len(w.chronicles) > 0:
			w.fail(fmt.Sprintf("%s does not answer in the end", r))
		case first == "":
			first = text
		case text != first:
			w.fail(fmt.Sprintf("%s has\n%swhere another has\n%s", r, text, first))
		}
	}
	return first
}

func contentOf(sets rr.Sets) string {
	var out strings.Builder
	for set := range sets.All() {
		fmt.Fprintf(&out, "  %s %d %s\n", set.Key(), set.TTL, strings.Join(set.Data, ", "))
	}
	return out.String()
}

// copied reports whether a replica has a record. mu is held.
func (w *World) copied(key rr.Key, data string) bool {
	return slices.ContainsFunc(w.replicas, func(r *replica) bool {
		for _, one := range r.seen {
			if set, ok := one.sets.Get(key); ok && slices.Contains(set.Data, data) {
				return true
			}
		}
		return false
	})
}
