package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	answerWithin = time.Second            // of a server that is not there, nothing comes
	askEvery     = 50 * time.Millisecond  // of each server
	silentFor    = 10 * time.Second       // which a server is not that nobody has killed
	lookEvery    = 100 * time.Millisecond // for servers
)

// A target is a pod or a Service that is asked all the time.
type target struct {
	name    string
	id      string // of the pod, or the Service
	at      netip.AddrPort
	service bool
	end     context.CancelFunc
	order   sync.Mutex // one question at a time: an answer may overtake an earlier one
}

// A claim is a name at a target, or a zone.
type claim struct{ id, what string }

// A witness asks all servers all the time, and knows what they said before.
type witness struct {
	*field
	model    *model
	subjects []subject // that are asked about

	mu      sync.Mutex
	targets map[string]*target
	asking  sync.WaitGroup
	killed  map[string]time.Time // pods
	leaving map[string]bool      // pods that were deleted
	serials map[claim]uint32     // the last of a zone
	places  map[claim]int        // in the history of what was wanted of a name
	right   map[claim]time.Time  // when a zone was answered for the last time
	said    map[string]string    // contents of zones by name and serial
	highest map[string]uint32    // serial of a zone
	pods    silence              // of all together
	through silence              // of all Services together
	lies    []string
	answers int
	copies  int
	shown   map[question]bool
}

// A silence is the longest time in which nobody answered.
type silence struct {
	last, from time.Time
	longest    time.Duration
}

func (s *silence) heard(now time.Time) {
	if gap := now.Sub(s.last); !s.last.IsZero() && gap > s.longest {
		s.longest, s.from = gap, s.last
	}
	s.last = now
}

func newWitness(l *load) *witness {
	return &witness{
		field: l.field, model: l.model, subjects: l.subjects, targets: map[string]*target{}, killed: map[string]time.Time{},
		serials: map[claim]uint32{}, places: map[claim]int{},
		right: map[claim]time.Time{}, said: map[string]string{}, highest: map[string]uint32{}, shown: map[question]bool{},
		leaving: map[string]bool{},
	}
}

// lie notes what no server should have shown. mu is held.
func (w *witness) lie(format string, args ...any) {
	w.lies = append(w.lies, time.Now().Format(clock)+" "+fmt.Sprintf(format, args...))
}

// run finds servers and asks them until ctx ends.
func (w *witness) run(ctx context.Context, random *rand.Rand) {
	for pause(ctx, lookEvery) {
		w.look(ctx, random)
	}
	w.asking.Wait()
}

// look begins to ask pods that are new, ready or not, and leaves those alone that are gone.
func (w *witness) look(ctx context.Context, random *rand.Rand) {
	pods, err := w.field.pods(ctx, namespace)
	if err != nil {
		return // the API server is away, and nothing comes or goes
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	there := map[string]bool{}
	for _, p := range pods {
		id := string(p.UID)
		if _, known := w.killed[id]; !known && !p.DeletionTimestamp.IsZero() {
			w.lie("pod %s was deleted, but not by this test", p.Name)
			w.killed[id] = time.Now()
		}
		at, err := netip.ParseAddr(p.Status.PodIP)
		if there[id] = true; err == nil && w.targets[id] == nil {
			w.ask(ctx, &target{name: p.Name, id: id, at: netip.AddrPortFrom(at, podPort)}, random.Uint64())
		}
	}
	for id, t := range w.targets {
		if !there[id] && !t.service {
			t.end()
			delete(w.targets, id)
		}
	}
}

// ask begins to ask a target. mu is held.
func (w *witness) ask(ctx context.Context, t *target, seed uint64) {
	ctx, t.end = context.WithCancel(ctx)
	w.targets[t.id] = t
	random := rand.New(rand.NewPCG(seed, 0))
	w.asking.Go(func() {
		for i := 0; pause(ctx, askEvery); i++ {
			network := "udp"
			if i%4 == 3 {
				network = "tcp"
			}
			for _, q := range w.questions(random) {
				t.order.Lock()
				answer := exchange(ctx, t.at, network, q)
				if ctx.Err() == nil {
					w.take(t, q, answer)
				}
				t.order.Unlock()
				if ctx.Err() != nil {
					return
				}
			}
		}
	})
}

// questions are some about one zone: a record that never changes, the SOA, one that changes, and the zone that comes
// and goes.
func (w *witness) questions(random *rand.Rand) []question {
	zone := zones[random.IntN(len(zones))]
	c := constants[random.IntN(len(constants))]
	return []question{
		{strings.TrimPrefix(c.name+"."+zone, "@."), c.rrtype}, {zone, dns.TypeSOA}, {"never." + zone, dns.TypeA},
		w.subjects[random.IntN(len(w.subjects))].question(),
		[]question{{passing, dns.TypeTXT}, {"www." + passing, dns.TypeA}}[random.IntN(2)],
	}
}

// exchange asks one question. The answer is nil if there is none.
func exchange(ctx context.Context, at netip.AddrPort, network string, q question) *dns.Msg {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	c := &dns.Client{Net: network, Timeout: answerWithin}
	answer, _, err := c.ExchangeContext(ctx, new(dns.Msg).SetQuestion(q.name, q.rrtype), at.String())
	if err != nil {
		return nil
	}
	return answer
}

// take judges an answer.
func (w *witness) take(t *target, q question, answer *dns.Msg) {
	now := time.Now()
	zone := zoneOf(q.name)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers++
	if answer == nil || answer.Rcode == dns.RcodeRefused || answer.Rcode == dns.RcodeServerFailure {
		w.silent(t, zone, answer, now)
		return
	}
	before := len(w.lies)
	w.judge(t, q, answer)
	if len(w.lies) > before || zone == passing {
		return
	}
	w.right[claim{t.id, zone}] = now
	if t.service {
		w.through.heard(now)
	} else {
		w.pods.heard(now)
	}
}

// silent complains of a server that has answered before, and does not any more although nobody has killed it. mu is
// held.
func (w *witness) silent(t *target, zone string, answer *dns.Msg, now time.Time) {
	last, ever := w.right[claim{t.id, zone}]
	_, killed := w.killed[t.id]
	if !ever || killed || t.service || now.Sub(last) < silentFor {
		return
	}
	w.killed[t.id] = now // this is said once
	what := "nothing"
	if answer != nil {
		what = dns.RcodeToString[answer.Rcode]
	}
	w.lie("%s, which nobody has killed, has not answered for %s since %s, but says %s", t.name, zone, last.Format(clock),
		what)
}

// judge looks at an answer that is one. mu is held.
func (w *witness) judge(t *target, q question, answer *dns.Msg) {
	if !answer.Authoritative || answer.Rcode != dns.RcodeSuccess && answer.Rcode != dns.RcodeNameError {
		w.lie("%s: %s is answered with\n%s", t.name, q, answer)
		return
	}
	data := nothing
	var set []dns.RR
	for _, r := range answer.Answer {
		if r.Header().Name == q.name && r.Header().Rrtype == q.rrtype {
			set = append(set, r)
		}
	}
	if len(set) > 0 {
		data = dataOf(set)
	} else if answer.Rcode == dns.RcodeSuccess {
		w.lie("%s: %s is answered as if the name were there without data\n%s", t.name, q, answer)
		return
	}
	zone := zoneOf(q.name)
	w.history(t, q, data)
	if len(set) == 1 && q.rrtype == dns.TypeSOA {
		w.serial(t, zone, set[0].(*dns.SOA).Serial)
	}
}

// history complains of data that was never wanted, or not any more when the same server had something newer. mu is
// held.
func (w *witness) history(t *target, q question, data string) {
	key := claim{t.id, q.String()}
	from := w.places[key]
	if zoneOf(q.name) == passing {
		from = 0
	}
	at, err := w.model.place(q, data, from)
	if err != nil {
		w.lie("%s: %v", t.name, err)
		w.show(q)
		return
	}
	w.places[key] = at
}

// show notes what the API server says of a name about which a server is wrong. mu is held.
func (w *witness) show(q question) {
	number, _, isSubject := strings.Cut(q.name, ".")
	i := slices.IndexFunc(w.subjects, func(s subject) bool { return s.name == number })
	if !isSubject || i < 0 || w.shown[q] {
		return
	}
	w.shown[q] = true
	w.asking.Go(func() {
		o := object(w.subjects[i].kind, number, nil)
		ctx, cancel := context.WithTimeout(w.ctx, readiness)
		defer cancel()
		err := w.insist(ctx, func(ctx context.Context) error {
			return client.IgnoreNotFound(w.client.Get(ctx, client.ObjectKeyFromObject(o), o))
		})
		w.tell("%s is %v, %v", q, o.Object, err)
	})
}

// serial complains of one that falls. mu is held.
func (w *witness) serial(t *target, zone string, serial uint32) {
	if zone == passing {
		return // a new zone begins anew
	}
	key := claim{t.id, zone}
	if before, ok := w.serials[key]; ok && int32(serial-before) < 0 {
		w.lie("%s: the serial of %s falls from %d to %d", t.name, zone, before, serial)
	}
	w.serials[key] = serial
	w.highest[zone] = max(w.highest[zone], serial)
}

func zoneOf(name string) string {
	for _, zone := range append(slices.Clone(zones), passing) {
		if dns.IsSubDomain(zone, name) {
			return zone
		}
	}
	return ""
}

// excuse has a pod be silent from now on: it was killed, or even deleted.
func (w *witness) excuse(id string, deleted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.killed[id], w.leaving[id] = time.Now(), deleted
}

// ended has a pod count as silent until it answers again.
func (w *witness) ended(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, zone := range zones {
		delete(w.right, claim{id, zone})
	}
}

// answering reports whether some other pod, which is there to stay, answers for every zone.
func (w *witness) answering(but string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, t := range w.targets {
		all := id != but && !t.service && !w.leaving[id]
		for _, zone := range zones {
			all = all && time.Since(w.right[claim{id, zone}]) < answerWithin
		}
		if all {
			return true
		}
	}
	return false
}
