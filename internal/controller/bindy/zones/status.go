package zones

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A zoneReport is one look at what the status of a DNSZone is to say.
type zoneReport struct {
	report
	id    zone.ID
	o     *v1beta1.DNSZone
	fleet fleetOf
	out   delivery.ZoneOutcome
}

// writeZone brings the status of a DNSZone up to date.
func (z *Zones) writeZone(ctx context.Context, id zone.ID) error {
	o, err := z.zone(ctx, id)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	v, ok := z.core.Verdict(id)
	r := &zoneReport{report: report{z}, id: id, o: o, out: z.outcome(id)}
	if !o.DeletionTimestamp.IsZero() {
		return r.letGo(ctx)
	}
	st, unlock := z.state.Lock()
	k := st.know(id)
	behind := !ok || k.taken != core.VersionOf(o)
	r.fleet = st.fleets[id]
	unlock()
	if behind {
		return nil // Settle asks again
	}
	return r.write(ctx, v)
}

// write brings the status up to date of a zone that is to be served.
func (r *zoneReport) write(ctx context.Context, v zone.Verdict) error {
	if err := r.spend(ctx); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.begin()
	now := r.stateOf()
	ready := now.ready(v)
	if r.soon(r.id, now.unsettled(v, ready)) {
		return r.lookAgain()
	}
	status := r.status(v, now, ready)
	if wait := r.rest(ready); wait > 0 {
		return &controller.Later{After: wait}
	}
	r.revise(ctx, &status)
	sent, err := r.patch(ctx, status)
	if !sent || err != nil {
		return err
	}
	r.wrote()
	r.eventOfHeld(status.Conditions)
	before := r.o.Status.Conditions
	if message := notAllowed(r.o, r.fleet); len(message) > 0 && !warned(before, message[0]) {
		r.warning(r.o, v1beta1.ReasonNotAllowed, "Select", message[0].Message)
	}
	if ready.Status != metav1.ConditionTrue && !isIntended(ready.Reason) && !dialect.HasReason(before, ready.Reason) {
		r.warning(r.o, ready.Reason, v1beta1.ConditionReady, ready.Message)
	}
	return nil
}

// status is what the status is to say of a zone that is so far.
func (r *zoneReport) status(v zone.Verdict, now zoneState, ready controller.Outcome) v1beta1.DNSZoneStatus {
	status := *r.o.Status.DeepCopy()
	status.Bind9Instances = r.instancesOf(namesAt(r.places()), func(key client.ObjectKey) instanceNews {
		return now.at[key]
	})
	status.Bind9InstancesCount = int32(len(r.fleet.all()))
	status.ObservedGeneration = r.o.Generation
	status.ServedBy = strings.Join(r.fleet.clusters, ",")
	status.DNSSEC = r.dnssecOf()
	status.RecordsCount = int32(len(r.z.core.Adopted(r.id)))
	status.Records = nil
	r.label(&status)
	c := controller.Conditions{Old: r.o.Status.Conditions, Generation: r.o.Generation, Now: r.z.Clock.Now()}
	c.Set(v1beta1.ConditionReady, ready)
	c.Set(v1beta1.ConditionProgressing, now.progressing(ready))
	c.Set(v1beta1.ConditionDegraded, now.degraded(ready))
	warn(&c, v, append(notAllowed(r.o, r.fleet), r.glueless(status)...)...)
	tellHeld(&status, &c, r.out.Held)
	tellFrozen(r.o, &status, &c, r.out)
	status.Conditions = c.List()
	return status
}

// glueless warns of name servers without an address once servers have the zone: before that, these may be about to get
// their addresses.
func (r *zoneReport) glueless(status v1beta1.DNSZoneStatus) []zone.Note {
	if status.Serial == nil {
		return nil
	}
	return r.fleet.glueless(r.o, r.out.Snapshot.Name, r.out.Snapshot.Sets)
}

// warn tells what is to be known of an accepted object.
func warn(c *controller.Conditions, v zone.Verdict, more ...zone.Note) {
	if !v.Accepted {
		return
	}
	var messages []string
	notes := slices.Concat(v.Notes, more)
	for _, n := range notes {
		messages = append(messages, n.Message)
	}
	if len(messages) > 0 {
		c.Set(controller.ConditionWarning, controller.OK(string(notes[0].Reason), strings.Join(messages, " ")))
	}
}

// warned reports whether a condition tells of something already.
func warned(conditions []metav1.Condition, n zone.Note) bool {
	c := meta.FindStatusCondition(conditions, controller.ConditionWarning)
	return c != nil && strings.Contains(c.Message, n.Message)
}

// notAllowed tells the owner of a zone that instances do not allow it, without their names.
func notAllowed(o *v1beta1.DNSZone, fleet fleetOf) []zone.Note {
	if fleet.refused == 0 {
		return nil
	}
	count := "1 Bind9Instance in another namespace, which does"
	if fleet.refused > 1 {
		count = fmt.Sprintf("%d Bind9Instances in other namespaces, which do", fleet.refused)
	}
	return []zone.Note{{Reason: v1beta1.ReasonNotAllowed, Object: dialect.ZoneID(o.Namespace, o.Name),
		Message: fmt.Sprintf(
			"bind9InstancesFrom selects %s not allow the zones of namespace %s. Their owner can add it to the annotation "+
				"%s, or you can narrow the selector.",
			count, o.Namespace, v1beta1.AllowZoneNamespacesAnnotation)}}
}

// instanceNews is what is known of a zone at an instance.
type instanceNews struct {
	state   v1beta1.InstanceState
	serial  uint32
	message string
	held    bool // an older zone is there
}

// instancesOf is what a status says of the servers of a zone. The time of a state is that of its last change.
func (r *zoneReport) instancesOf(names map[client.ObjectKey][]string,
	news func(client.ObjectKey) instanceNews) []v1beta1.ZoneInstance {
	keys := append(r.fleet.all(), r.fleet.idle...)
	for key := range names {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b client.ObjectKey) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), dialect.CompareInstances(a.Name, b.Name))
	})
	var out []v1beta1.ZoneInstance
	for _, key := range keys {
		n := news(key)
		if !r.fleet.has(key) && !slices.Contains(r.fleet.idle, key) {
			n.state = v1beta1.StateUnclaimed
		}
		i := v1beta1.ZoneInstance{
			Name: key.Name, Namespace: key.Namespace, UID: r.fleet.uids[key], State: n.state, Status: n.state,
			Message: n.message, APIVersion: v1beta1.GroupVersion.String(), Kind: v1beta1.KindInstance,
			ZoneNames: slices.Sorted(slices.Values(names[key])),
		}
		if n.serial != 0 {
			serial := int64(n.serial)
			i.Serial = &serial
		}
		at := metav1.NewTime(r.z.Clock.Now().Truncate(time.Second))
		if before := slices.IndexFunc(r.o.Status.Bind9Instances, func(b v1beta1.ZoneInstance) bool {
			return b.Name == i.Name && b.Namespace == i.Namespace && b.State == i.State && b.LastSyncTime != nil
		}); before >= 0 {
			at = *r.o.Status.Bind9Instances[before].LastSyncTime
		}
		i.LastSyncTime, i.LastReconciledAt = &at, at.UTC().Format(time.RFC3339)
		out = append(out, i)
	}
	return out
}

// places are where a zone is or is to be. What the status says of them stays as long as nobody has taken it in: where
// the zone is, is written down nowhere else.
func (r *zoneReport) places() []delivery.Delivered {
	if !r.out.Known {
		return deliveredOf(r.o)
	}
	var out []delivery.Delivered
	for _, p := range r.out.Places {
		out = append(out, p.Delivered)
	}
	return out
}

// namesAt are the names under which instances have a zone or are to have it.
func namesAt(places []delivery.Delivered) map[client.ObjectKey][]string {
	names := map[client.ObjectKey][]string{}
	for _, p := range places {
		if key, ok := instanceOf(p.Place); ok && !slices.Contains(names[key], p.Zone.String()) {
			names[key] = append(names[key], p.Zone.String())
		}
	}
	return names
}

// A zoneState is how far a zone is on its servers.
type zoneState struct {
	fleet     fleetOf
	served    controller.Outcome
	at        map[client.ObjectKey]instanceNews
	primary   []string // what is wrong with primaries, as sentences
	secondary []string // with secondaries
	waiting   []string // secondaries that are about to have it
	done      int      // instances
	held      string   // an older zone has servers

	signatures *backend.Signatures // that the signer has shown last
}

// stateOf finds out how far a zone is at each of its instances.
func (r *zoneReport) stateOf() zoneState {
	s := zoneState{fleet: r.fleet, served: r.out.Served, at: map[client.ObjectKey]instanceNews{}}
	st, unlock := r.z.state.Lock()
	defer unlock()
	for _, key := range r.fleet.primaries {
		n := instanceNews{state: v1beta1.StateClaimed}
		if i := slices.IndexFunc(r.out.Places, func(p delivery.PlaceOutcome) bool {
			return p.Place == placeOf(key) && p.Zone == r.out.Snapshot.Name
		}); i >= 0 {
			p := r.out.Places[i]
			switch {
			case p.Reason == "" && p.Serial != 0:
				n = instanceNews{state: v1beta1.StateConfigured, serial: p.Serial}
				s.done++
			case p.Reason == controller.ReasonPending, p.Reason == controller.ReasonFrozen:
				n.serial, n.message = p.Serial, p.Message
			default:
				n = instanceNews{state: v1beta1.StateFailed, serial: p.Serial, message: p.Message}
				if p.Reason == controller.ReasonHeld {
					n.message = cmp.Or(st.elder(r.id, key), p.Message)
					s.held = n.message
				}
				s.primary = append(s.primary, n.message)
			}
		} else if h := st.hosts[key]; h != nil && h.trouble != "" {
			n = instanceNews{state: v1beta1.StateFailed, message: h.trouble}
			s.primary = append(s.primary, h.trouble)
		}
		s.at[key] = n
	}
	for _, key := range r.fleet.idle {
		s.at[key] = instanceNews{state: v1beta1.StateClaimed, message: "It has no pods because replicas is 0."}
	}
	s.signatures = st.know(r.id).signatures
	for _, key := range r.fleet.secondaries {
		n := st.secondaryNews(r.id, key, r.out.Label.Serial)
		switch n.state {
		case v1beta1.StateConfigured:
			s.done++
		case v1beta1.StateFailed:
			s.secondary = append(s.secondary, n.message)
			if n.held {
				s.held = cmp.Or(s.held, n.message)
			}
		default:
			s.waiting = append(s.waiting, key.String())
		}
		s.at[key] = n
	}
	return s
}

// secondaryNews is how far a secondary instance is.
func (st *state) secondaryNews(id zone.ID, key client.ObjectKey, serial uint32) instanceNews {
	h := st.hosts[key]
	if h == nil || len(h.pods) == 0 {
		message := fmt.Sprintf("No pod of Bind9Instance %s is running.", key)
		if h != nil && h.trouble != "" {
			message = h.trouble
		}
		return instanceNews{state: v1beta1.StateFailed, message: message}
	}
	if elder := st.elder(id, key); elder != "" {
		return instanceNews{state: v1beta1.StateFailed, message: elder, held: true}
	}
	n := instanceNews{state: v1beta1.StateConfigured}
	for _, p := range h.pods {
		f := st.follows[id][p.UID]
		switch {
		case f == nil || f.trouble == "" && (serial == 0 || f.serial == 0 || rr.SerialLess(f.serial, serial)):
			if n.state == v1beta1.StateConfigured {
				n.state = v1beta1.StateClaimed
			}
		case f.trouble != "":
			n.state, n.message = v1beta1.StateFailed, f.trouble
		}
		if f != nil && f.serial != 0 && (n.serial == 0 || rr.SerialLess(f.serial, n.serial)) {
			n.serial = f.serial
		}
	}
	return n
}

func (s zoneState) ready(v zone.Verdict) controller.Outcome {
	all := len(s.fleet.all())
	switch {
	case !v.Accepted:
		return controller.Not(string(v.Reason), v.Message)
	case all == 0:
		return controller.Not(v1beta1.ReasonNoInstances,
			cmp.Or(s.fleet.problem, "Its instances have no pods because replicas is 0."))
	case s.fleet.signer.gone:
		return controller.Not(v1beta1.ReasonSigningRefused, s.fleet.signer.trouble)
	case len(s.fleet.primaries) == 0:
		message := "It has only secondary servers, which have no primary to transfer it from; select a primary with " +
			"clusterRef or bind9InstancesFrom."
		if len(s.fleet.idle) > 0 {
			message += " Instances with replicas: 0 do not count."
		}
		return controller.Not(v1beta1.ReasonNoPrimaryInstances, message)
	case s.held != "":
		return controller.Not(string(zone.DuplicateZone), s.held)
	case len(s.primary) > 0:
		return controller.Not(v1beta1.ReasonPrimaryFailed, strings.Join(s.primary, " "))
	case s.served.Reason == controller.ReasonFrozen:
		return s.served
	case s.served.Status != metav1.ConditionTrue:
		reason := v1beta1.ReasonPrimaryReconciling
		if s.served.Reason != controller.ReasonPending {
			reason = v1beta1.ReasonPrimaryFailed
		}
		return controller.Not(reason, s.served.Message)
	case len(s.secondary) > 0:
		return controller.Not(v1beta1.ReasonSecondaryFailed, strings.Join(s.secondary, " "))
	case len(s.waiting) > 0:
		return controller.Not(v1beta1.ReasonSecondaryReconciling, dialect.Sentence(
			"The primaries have it; still without it: %s.", dialect.List(s.waiting)))
	}
	if o := s.signingReady(); o != nil {
		return *o
	}
	return controller.OK(v1beta1.ReasonAllConfigured, fmt.Sprintf("All %d instances have it.", all))
}

// unsettled is a progress while a server is about to have the zone, even where more is wrong with it. Who has just
// begun to lead has not heard what each server has, and does not take back what the status says of it.
func (s zoneState) unsettled(v zone.Verdict, ready controller.Outcome) controller.Outcome {
	if v.Accepted && slices.ContainsFunc(s.fleet.all(), func(key client.ObjectKey) bool {
		return s.at[key].state == v1beta1.StateClaimed
	}) {
		return controller.Not(v1beta1.ReasonPrimaryReconciling, ready.Message)
	}
	return ready
}

func isProgress(reason string) bool {
	return reason == v1beta1.ReasonPrimaryReconciling || reason == v1beta1.ReasonSecondaryReconciling
}

// isIntended reports whether what keeps something from being ready is nothing to warn of.
func isIntended(reason string) bool { return isProgress(reason) || reason == controller.ReasonFrozen }

func (s zoneState) progressing(ready controller.Outcome) controller.Outcome {
	if isProgress(ready.Reason) {
		return controller.OK(ready.Reason, ready.Message)
	}
	if o := s.goingInsecure(); o != nil {
		return *o
	}
	return controller.Not(ready.Reason, "No change is under way.")
}

func (s zoneState) degraded(ready controller.Outcome) controller.Outcome {
	if ready.Status != metav1.ConditionTrue && !isIntended(ready.Reason) && s.done > 0 {
		return controller.OK(ready.Reason, cmp.Or(ready.Message, "Some parts of it work."))
	}
	return controller.Not(ready.Reason, dialect.NotDegraded(ready.Status == metav1.ConditionTrue))
}

// soon reports whether something may settle by itself and has not been so for long: then there is nothing to write yet.
func (r report) soon(id zone.ID, o controller.Outcome) bool {
	now := r.z.Clock.Now()
	st, unlock := r.z.state.Lock()
	k := st.know(id)
	if !isProgress(o.Reason) && o.Reason != controller.ReasonRejected && o.Reason != controller.ReasonPending {
		k.pending = time.Time{}
		unlock()
		return false
	}
	if k.pending.IsZero() {
		k.pending = now
	}
	since := k.pending
	unlock()
	return r.isSoon(since, now)
}
