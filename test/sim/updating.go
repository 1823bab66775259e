package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// This is a client of dynamic updates (RFC 2136), of which a message is a step with a change a line:
//
//	update example.org. SECRET          it is signed with the key dhcp. of the secret
//	  delete u.example.org. A           all A records of a name; with a value after it, one
//	  add u.example.org. 300 A 192.0.2.1
//
// It sends the message again until it is told what became of it. With "once" behind the secret it sends it once, and
// does not wait.
const (
	updateKey      = "dhcp."
	updatePatience = 20 * time.Minute
	updateAnswer   = 15 * time.Second // an operator that does not lead asks the one that does
	updateRepeats  = 24               // while nobody leads; all of them are made as long as the signature holds
)

// updatedName finds the names of Records of updates, whose ends nobody knows before.
var updatedName = regexp.MustCompile(`(\b[a-z0-9.-]+\.[a-z0-9]+)-[0-9a-v]{10}\b`)

// An updating is what a message changes.
type updating struct {
	zone    dnsname.Name
	changes []updated
	secret  string    // of the key that it is signed with
	signed  time.Time // when it is
}

// updated is one line.
type updated struct {
	key   rr.Key
	adds  bool
	data  string // "": all of it goes
	lines string // as a record of the DNS
}

// parseUpdating reads a step.
func parseUpdating(zone, text string) (u updating, err error) {
	if u.zone, err = dnsname.Parse(zone); err != nil {
		return u, err
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		c := updated{adds: words[0] == "add"}
		if c.adds {
			c.lines = strings.Join(words[1:], " ")
			words = slices.Delete(words, 2, 3) // its TTL
		}
		if len(words) < 3 {
			return u, fmt.Errorf("a line is to say what of which name, not %q", line)
		}
		if c.key.Name, err = dnsname.Parse(words[1]); err == nil {
			c.key.Type, err = rr.ParseType(words[2])
		}
		if err != nil {
			return u, err
		}
		c.data = strings.Join(words[3:], " ")
		u.changes = append(u.changes, c)
	}
	return u, nil
}

// message is the same each time, until it is signed anew.
func (u updating) message() (*dns.Msg, error) {
	m := new(dns.Msg).SetUpdate(u.zone.String())
	m.Id = uint16(u.signed.Unix()) // the low bits do
	for _, c := range u.changes {
		if c.adds {
			record, err := dns.NewRR(c.lines)
			if err != nil {
				return nil, err
			}
			m.Insert([]dns.RR{record})
			continue
		}
		header := dns.RR_Header{Name: c.key.Name.String(), Rrtype: uint16(c.key.Type)}
		if c.data == "" {
			m.RemoveRRset([]dns.RR{&dns.ANY{Hdr: header}})
			continue
		}
		record, err := dns.NewRR(fmt.Sprintf("%s 0 %s %s", c.key.Name, c.key.Type, c.data))
		if err != nil {
			return nil, err
		}
		m.Remove([]dns.RR{record})
	}
	return m.SetTsig(updateKey, dns.HmacSHA256, 300, u.signed.Unix()), nil
}

// update sends a message until it is answered, and once more then, or once and does not wait.
func (w *World) update(ctx context.Context, words []string, text string) error {
	zone := words[0]
	u, err := parseUpdating(zone, text)
	if err != nil {
		return err
	}
	u.secret = words[1]
	if slices.Contains(words[2:], "once") {
		w.updateOnce(ctx, u)
		return nil
	}
	began, heard := w.api.store.now(), false
	for try := 0; w.api.store.now().Sub(began) < updatePatience; try++ {
		u.signed = w.api.store.now()
		for range 3 { // what is not answered is sent again as it is
			rcode, at, err := w.tell(ctx, u, try)
			if err == nil && rcode != dns.RcodeServerFailure {
				w.answered(ctx, u, rcode, at)
				return ctx.Err()
			}
			heard = heard || at != nil
			<-time.After(5 * time.Second)
		}
	}
	if !heard {
		return errors.New("there is no name server to send it to")
	}
	w.fail("nobody says what becomes of an update of " + zone)
	return nil
}

// updateOnce sends a message that nobody repeats.
func (w *World) updateOnce(ctx context.Context, u updating) {
	u.signed = w.api.store.now()
	w.mu.Lock()
	for _, c := range u.changes {
		w.unheard[c.key] = true
	}
	w.mu.Unlock()
	w.parts.Go(func() { _, _, _ = w.tell(ctx, u, 0) })
}

// tell sends a message to one of the replicas that listen.
func (w *World) tell(ctx context.Context, u updating, try int) (int, *replica, error) {
	w.mu.Lock()
	all := slices.Clone(w.replicas)
	w.mu.Unlock()
	all = slices.DeleteFunc(all, w.silent)
	if len(all) == 0 {
		return 0, nil, errors.New("there is no name server")
	}
	at := all[try%len(all)]
	rcode, err := w.exchange(ctx, u, at)
	return rcode, at, err
}

func (w *World) exchange(ctx context.Context, u updating, at *replica) (int, error) {
	m, err := u.message()
	if err != nil {
		return 0, err
	}
	stream, err := w.dial(ctx, nil, at.at)
	if err != nil {
		return 0, err
	}
	defer func() { _ = stream.Close() }()
	if err := stream.SetDeadline(w.api.store.now().Add(updateAnswer)); err != nil {
		return 0, err
	}
	c := dns.Conn{Conn: stream, TsigSecret: map[string]string{updateKey: u.secret}}
	if err := c.WriteMsg(m); err != nil {
		return 0, err
	}
	answer, err := c.ReadMsg()
	if answer != nil && answer.Rcode == dns.RcodeNotAuth {
		return answer.Rcode, nil // who does not know the key cannot sign (RFC 8945 section 5.3.2)
	}
	if err != nil {
		return 0, err
	}
	return answer.Rcode, nil
}

// answered looks at whether an answer is true, and whether who asks again is told the same.
func (w *World) answered(ctx context.Context, u updating, rcode int, at *replica) {
	if rcode == dns.RcodeSuccess {
		w.mu.Lock()
		for _, c := range u.changes {
			w.updates[c.key] = c.apply(w.updates[c.key])
		}
		if wrong := w.undone(u); wrong != "" {
			w.wrong = append(w.wrong, wrong)
		}
		w.mu.Unlock()
		w.updatesHold()
	}
	w.mu.Lock()
	met := w.met
	w.mu.Unlock()
	again, err := w.exchange(ctx, u, at)
	for left := updateRepeats; (err != nil || again == dns.RcodeServerFailure) && left > 0; left-- {
		<-time.After(5 * time.Second) // who led may just have ended
		again, err = w.exchange(ctx, u, at)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && met == w.met && again != rcode {
		w.wrong = append(w.wrong, fmt.Sprintf("an update of %s is answered %s, and then %s", u.zone,
			dns.RcodeToString[rcode], dns.RcodeToString[again]))
	}
}

// apply returns what becomes of the values that a set has.
func (c updated) apply(before []string) []string {
	switch {
	case c.adds && !slices.Contains(before, c.data):
		return append(slices.Clone(before), c.data)
	case !c.adds:
		return slices.DeleteFunc(slices.Clone(before), func(data string) bool { return c.data == "" || data == c.data })
	}
	return before
}

// undone says what of a message leaders do not have at their name servers. mu is held.
func (w *World) undone(u updating) string {
	c := w.chronicles[u.zone]
	if c == nil || c.gone {
		return fmt.Sprintf("an update of %s is answered, and nobody has the zone", u.zone)
	}
	last := c.ages[len(c.ages)-1]
	for _, change := range u.changes {
		set, _ := last.contents[last.last].Get(change.key)
		for _, data := range w.updates[change.key] {
			if !slices.Contains(set.Data, data) {
				return fmt.Sprintf("an update of %s is answered, and %s %s is not served", u.zone, change.key, data)
			}
		}
		if len(w.updates[change.key]) != len(set.Data) {
			return fmt.Sprintf("an update of %s is answered, and %s has %q", u.zone, change.key, set.Data)
		}
	}
	return ""
}

// updatesHold looks at whether there are the Records that answers have spoken of, and no others but those of a Zone
// that is gone or refused: another one of its domain does not have them.
func (w *World) updatesHold() {
	is, left := map[rr.Key][]string{}, map[rr.Key][]string{}
	w.api.store.mu.Lock()
	for r, object := range w.api.store.objects {
		if r.kind.Kind != "Record" || object.GetLabels()[zonefold.UpdateLabel] != "true" {
			continue
		}
		spec := texts(object, "spec")
		name, _ := dnsname.Parse(spec["domainName"])
		typ, _ := rr.ParseType(spec["type"])
		key := rr.Key{Name: name, Type: typ}
		of := texts(object, "spec", "zoneRef")
		z, err := w.refOf("Zone", of["namespace"]+"/"+of["name"])
		owner := w.api.store.objects[z]
		if err == nil && (owner == nil || ending(owner) || trueOf(owner, "Accepted") == nil) {
			left[key] = append(left[key], spec["rdata"])
		} else {
			is[key] = append(is[key], spec["rdata"])
		}
	}
	w.api.store.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, want := range w.updates {
		for _, data := range want {
			if !slices.Contains(is[key], data) && slices.Contains(left[key], data) {
				is[key] = append(is[key], data)
			}
		}
		slices.Sort(want)
		slices.Sort(is[key])
		if !slices.Equal(want, is[key]) {
			w.wrong = append(w.wrong, fmt.Sprintf("updates were answered that leave %s %q, and there are Records for %q", key,
				want, is[key]))
		}
	}
}

// updatesLeft looks, when all is calm, for Records of updates that nobody has repeated: there is none that is refused,
// even if whoever was to take it back has ended.
func (w *World) updatesLeft() {
	w.api.store.mu.Lock()
	objects := maps.Clone(w.api.store.objects)
	w.api.store.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	for r, object := range objects {
		spec := texts(object, "spec")
		name, _ := dnsname.Parse(spec["domainName"])
		typ, _ := rr.ParseType(spec["type"])
		if r.kind.Kind == "Record" && object.GetLabels()[zonefold.UpdateLabel] == "true" &&
			w.unheard[rr.Key{Name: name, Type: typ}] && !ready(object) {
			w.wrong = append(w.wrong, fmt.Sprintf("an update has left %s, which is refused", r))
		}
	}
}

// forgetUpdates is for when objects go that somebody else has an answer for.
func (w *World) forgetUpdates(object *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if object == nil || object.GetKind() == "Namespace" {
		clear(w.updates)
	}
}
