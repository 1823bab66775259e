package show

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/cli/ask"
	"github.com/zonefold/zonefold/internal/cli/change"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/console"
	"github.com/zonefold/zonefold/internal/zone"
)

// A consoleWorld is what the console shows: what the commands say of objects that change. It is a console.Source.
type consoleWorld struct {
	env   command.Env
	flags command.ObjectFlags
	where string
	now   func() time.Time

	mu      sync.Mutex // guards what follows, and the fold's World
	fold    *fold.Fold
	x       *ask.Explainer
	version uint64
	changed chan struct{}                       // closed with the next change
	shown   *console.World                      // of x; nil: nobody has asked yet
	records map[console.Object][]console.Record // of x, of those zones that somebody has asked for
}

func newConsoleWorld(env command.Env, flags command.ObjectFlags, where string, f *fold.Fold) *consoleWorld {
	w := &consoleWorld{env: env, flags: flags, where: where, now: command.Running(env.Now), fold: f,
		changed: make(chan struct{})}
	w.x = ask.ExplainerOver(&command.Found{Input: &manifest.Input{}}, f, &fold.Composition{})
	return w
}

// put has the console show other objects, which it folds while nobody looks at the World, and returns what was made of
// them.
func (w *consoleWorld) put(o *command.Found) (*fold.Composition, zone.Delta) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, delta := w.fold.Put(o.Objects)
	c.Remember()
	w.x = ask.ExplainerOver(o, w.fold, c)
	w.shown, w.records = nil, map[console.Object][]console.Record{}
	w.version++
	close(w.changed)
	w.changed = make(chan struct{})
	return c, delta
}

// explainer returns what the console shows now.
func (w *consoleWorld) explainer() *ask.Explainer {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.x
}

// World implements console.Source.
func (w *consoleWorld) World() (*console.World, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shown == nil {
		w.shown = w.show()
	}
	return w.shown, w.changed
}

func (w *consoleWorld) show() *console.World {
	t := w.x.Tree()
	out := &console.World{Version: w.version, Where: w.where, Namespace: w.x.Namespace, Cluster: w.x.Cluster,
		Unseen: t.Unseen}
	results := map[zone.ID]*fold.ZoneResult{}
	for i := range w.x.Composition.Zones {
		results[w.x.Composition.Zones[i].ID()] = &w.x.Composition.Zones[i]
	}
	var add func(zones []*ask.TreeZone, depth int, parent string)
	add = func(zones []*ask.TreeZone, depth int, parent string) {
		for _, z := range zones {
			one := consoleZone(z, results[zone.ID{Kind: z.Kind, Namespace: z.Zone.Namespace, Name: z.Zone.Name}],
				w.x.Cluster)
			one.Depth, one.Parent = depth, parent
			out.Zones = append(out.Zones, one)
			add(z.Zones, depth+1, cmp.Or(z.FQDN, parent))
		}
	}
	add(t.Zones, 0, "")
	for _, o := range w.x.Composition.Decisions() {
		if !o.Verdict.Accepted {
			r := console.Refusal{Object: *explained.ObjectOf(o.ID), Type: o.T, Reason: string(o.Verdict.Reason),
				Message: o.Verdict.Message}
			if !o.Verdict.Name.IsZero() {
				r.FQDN = o.Verdict.Name.String()
			}
			out.Refused = append(out.Refused, r)
		}
	}
	for _, p := range w.x.Composition.Problems {
		out.Refused = append(out.Refused, console.Refusal{Object: console.Object(p.Object.Ref), Reason: p.Reason,
			Message: p.Message})
	}
	for _, o := range w.x.Composition.Backends {
		out.Backends = append(out.Backends, w.consoleBackend(o))
	}
	return out
}

// consoleZone puts what the tree says of a Zone, and what its object does, into the words of the console.
func consoleZone(z *ask.TreeZone, of *fold.ZoneResult, cluster bool) console.Zone {
	out := console.Zone{Object: console.Object{Kind: z.Kind, Namespace: z.Zone.Namespace, Name: z.Zone.Name}, FQDN: z.FQDN,
		Accepted: z.Accepted, Reason: string(z.Reason), Message: z.Message, Rules: consoleRules(z, of.Object)}
	for _, owner := range z.Records {
		out.Owners = append(out.Owners, console.Owner(owner))
	}
	for _, b := range z.Backends {
		server := console.ZoneServer{Name: b.Name, Message: b.Message}
		if b.Serial != nil {
			server.Serial = strconv.FormatInt(*b.Serial, 10)
		}
		out.Servers = append(out.Servers, server)
	}
	conditions := conditionsIn(of.Object)
	out.Health = healthOf(conditions)
	switch {
	case z.Accepted && !cluster:
		out.Health = console.Health{State: console.Good, Reason: "accepted"}
	case !z.Accepted:
		out.Health = console.Health{State: console.Bad, Reason: string(z.Reason)}
	}
	if frozen := apimeta.FindStatusCondition(conditions, ask.ConditionFrozen); frozen != nil {
		out.Frozen = cmp.Or(frozen.Message, frozen.Reason)
	}
	if z := of.Object.Zone; z != nil {
		if z.Status.Serial != nil {
			out.Serial = strconv.FormatInt(int64(*z.Status.Serial), 10)
		}
		if held := z.Status.Held; held != nil {
			out.Held = &console.Held{Sets: int(held.Sets), Examples: held.Examples, Plan: held.Plan}
		}
	}
	if z, is := of.Object.Bindy.(*bindy.DNSZone); is {
		if z.Status.Serial != nil {
			out.Serial = strconv.FormatInt(*z.Status.Serial, 10)
		}
		if held := z.Status.Held; held != nil {
			out.Held = &console.Held{Sets: int(held.Sets), Examples: held.Examples, Plan: held.Plan}
		}
	}
	return out
}

// consoleRules returns the rules of a Zone by what they let whom have; of others, as their objects have them.
func consoleRules(z *ask.TreeZone, o *manifest.Object) []console.Rule {
	var out []console.Rule
	if o.Zone == nil {
		for _, text := range z.Rules {
			out = append(out, console.Rule{Text: text})
		}
		return out
	}
	for _, d := range o.Zone.Spec.Delegations {
		rule := console.Rule{Who: slices.Clone(d.Namespaces), Zones: d.Zones}
		if d.Namespace != "" {
			rule.Who = append(rule.Who, d.Namespace)
		}
		for _, r := range d.Records {
			text := r.Pattern
			for i, t := range r.Types {
				text += map[bool]string{true: " ", false: ", "}[i == 0] + string(t)
			}
			rule.Records = append(rule.Records, text)
		}
		out = append(out, rule)
	}
	return out
}

// conditionsIn returns the conditions of an object of any kind.
func conditionsIn(o *manifest.Object) []metav1.Condition {
	var text struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if json.Unmarshal(o.JSON, &text) != nil {
		return nil // whoever has written it in another form says nothing that we know
	}
	return text.Status.Conditions
}

// healthOf says in the words of the condition Ready how an object is.
func healthOf(conditions []metav1.Condition) console.Health {
	ready := apimeta.FindStatusCondition(conditions, "Ready")
	if ready == nil {
		return console.Health{State: console.Unknown, Reason: "not known"}
	}
	h := console.Health{State: console.Bad, Reason: ready.Reason, Message: ready.Message}
	switch ready.Status {
	case metav1.ConditionTrue:
		h = console.Health{State: console.Good, Reason: "Ready"}
	case metav1.ConditionUnknown:
		h.State = console.Unknown
	}
	return h
}

func (w *consoleWorld) consoleBackend(o *manifest.Object) console.Backend {
	b := console.Backend{Name: o.Name, Health: healthOf(conditionsIn(o)), Servers: w.x.AddressesOf(o.Name)}
	if o.Backend == nil {
		b.Health = console.Health{State: console.Bad, Reason: "Unreadable", Message: o.Fault}
		return b
	}
	spec := &o.Backend.Spec
	b.Mode, b.Default = cmp.Or(string(spec.Mode), string(zonefold.ModeSync)), spec.Default
	switch {
	case spec.Embedded != nil:
		b.Type, b.Servers = "embedded", []string{"the operator"}
	case spec.RFC2136 != nil:
		b.Type = "rfc2136"
	case spec.PowerDNS != nil:
		b.Type, b.Servers = "powerdns", []string{spec.PowerDNS.URL}
	case spec.Bind9 != nil:
		b.Type, b.Servers = "bind9", []string{spec.Bind9.ClusterRef.Name}
	case spec.DNSClass != nil:
		b.Type, b.Servers = "dnsClass", []string{spec.DNSClass.Name}
	case spec.Provider != nil:
		b.Type, b.Servers = "provider", []string{strings.TrimSpace(spec.Provider.Type + " " + spec.Provider.Region)}
	}
	for _, names := range w.x.Composition.Goes {
		if slices.Contains(names, o.Name) {
			b.Zones++
		}
	}
	return b
}

// warm makes what the first pages show, so that whoever opens the link need not wait for it.
func (w *consoleWorld) warm() {
	all, _ := w.World()
	for i := range all.Zones {
		w.Records(all.Zones[i].Object)
	}
}

// Records implements console.Source.
func (w *consoleWorld) Records(of console.Object) ([]console.Record, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, made := w.records[of]; made {
		return known, true
	}
	id := zone.ID(of)
	snapshot, accepted := w.fold.World.Snapshot(id)
	if !accepted {
		return nil, false
	}
	out := make([]console.Record, 0, snapshot.Sets.Len())
	for set := range snapshot.Sets.All() {
		r := console.Record{Name: set.Name.String(), Type: set.Type.String(), TTL: set.TTL, Data: set.Data}
		if strings.Contains(r.Name, "xn--") { // RFC 5890 §2.3.2.1; of the others it takes more time than all else
			r.Unicode = set.Name.Unicode()
		}
		w.fold.World.AdoptedAt(id, set.Key(), func(claim zone.ID) bool {
			r.Objects = append(r.Objects, *explained.ObjectOf(claim))
			return true
		})
		slices.SortFunc(r.Objects, func(a, b console.Object) int { return zone.ID(a).Compare(zone.ID(b)) })
		out = append(out, r)
	}
	if w.records != nil {
		w.records[of] = out
	}
	return out, true
}

// Explain implements console.Source: it is what explain says.
func (w *consoleWorld) Explain(ctx context.Context, question console.Question) (*explained.Explanation, error) {
	args := []string{strings.ToLower(question.Object.Kind) + "/" + question.Object.Namespace + "/" + question.Object.Name}
	if question.Name != "" {
		args = append([]string{question.Name}, strings.Fields(question.Type)...)
	}
	q, err := ask.NewQuestion(args[:min(len(args), 2)])
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	x := w.x
	e, err := x.Explain(q)
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	e.Servers = x.Ask(ctx, e, nil)
	e.Advise()
	return &e.Explanation, nil
}

// differencesTake is the timeout of one server for one zone.
const differencesTake = 20 * time.Second

// Differences implements console.Source: it is what diff says.
func (w *consoleWorld) Differences(ctx context.Context, of console.Object) ([]console.Difference, error) {
	x := w.explainer()
	z := x.ZoneOf(zone.ID(of))
	if z == nil || !z.Verdict.Accepted || z.Object.Zoneless() {
		return nil, fmt.Errorf("%s is not a zone that servers can be asked for", of.String())
	}
	c := &change.Comparing{Explainer: x, Flags: &change.DiffFlags{In: w.flags, Operator: command.OperatorNamespace},
		Pool: all.NewPool(w.now, nil), AsksOperator: true}
	if s := w.flags.Shared; s != nil {
		c.Flags.Operator, c.Others = s.Operator, true
		c.Pool.Bound(s.Reads)
	}
	if err := c.Reach(w.env); err != nil {
		return nil, err
	}
	jobs := c.JobsOf(ctx, z, true)
	var out []console.Difference
	for _, found := range change.CompareAll(ctx, jobs, differencesTake, command.NewProgress(w.env.Stderr)) {
		d := console.Difference{Title: found.Title(), Error: found.Error != "", Same: !found.Differs()}
		for _, s := range found.Changes {
			for _, line := range s.Lines() {
				d.Lines = append(d.Lines, consoleLine(line))
			}
		}
		for _, s := range found.Refused {
			d.Lines = append(d.Lines, console.Line{Sign: "!", Text: s.Name + " " + s.Type + " is not written: " + s.Reason})
		}
		for _, s := range found.Foreign {
			for _, data := range s.Data {
				d.Foreign = append(d.Foreign, fmt.Sprintf("%s %d IN %s %s", s.Name, s.TTL, s.Type, data))
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// consoleLine takes the sign off a line.
func consoleLine(line string) console.Line {
	sign, text, _ := strings.Cut(line, " ")
	return console.Line{Sign: sign, Text: text}
}
