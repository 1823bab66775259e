package sim

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A story is what is told of one zone by the servers of a namespace. No two objects have a zone of one name at a time
// in the lives that there are.
type story struct {
	namespace string
	zone      dnsname.Name
}

type telling struct {
	of       types.UID            // the object
	contents map[uint32]uint64    // by serial
	served   map[ref]servedSerial // the highest, by Deployment
}

type servedSerial struct {
	serial uint32
	since  time.Time
}

// lagging is for how long a pod that comes may have an older zone than one that was there: news are under way to both.
const lagging = 30 * time.Second

// shows notes what a pod shows of a zone, if it does.
func (p *pod) shows(zone dnsname.Name, s *site) {
	if !s.shown() {
		return
	}
	key := story{p.of.Namespace, zone}
	t := p.nodes.stories[key]
	if t == nil { // nobody has made it since there was a pod
		return
	}
	soa, sets, _ := p.disk.zones.Truth(zone)
	sum := fnv.New64a()
	unnumbered := soa
	unnumbered.Serial = 0
	fmt.Fprintln(sum, soa.TTL, unnumbered.Data())
	for set := range sets.All() {
		fmt.Fprintln(sum, set.Key(), set.TTL, set.Data)
	}
	if before, known := t.contents[soa.Serial]; known && before != sum.Sum64() {
		p.wrong("serial %d of %s stands for two contents", soa.Serial, zone)
	}
	t.contents[soa.Serial] = sum.Sum64()
	if s.of != t.of {
		s.of, s.last = t.of, 0
	}
	if s.last != 0 && rr.SerialLess(soa.Serial, s.last) {
		p.wrong("serial %d of %s is served after %d", soa.Serial, zone, s.last)
	}
	if s.last = soa.Serial; p.ready {
		p.serve(t, soa.Serial)
	}
	if bare(zone, sets) && p.nodes.fills(p.of.Namespace, zone) {
		p.wrong("%s has serial %d and is empty, and there are records that are Ready", zone, soa.Serial)
	}
}

// bare reports whether a zone has nothing but its name servers and their addresses.
func bare(zone dnsname.Name, sets rr.Sets) bool {
	servers, _ := sets.Get(rr.Key{Name: zone, Type: rr.TypeNS})
	for set := range sets.All() {
		if set.Key() != servers.Key() && !slices.Contains(servers.Data, set.Name.String()) {
			return false
		}
	}
	return true
}

// fills reports whether a zone has records that are Ready as they are now, and have been there for a while. One that
// was Ready in another zone, and has moved, may come after the last of this one has gone; so may one that went to
// another zone and came back before a status said so.
func (n *nodes) fills(namespace string, zone dnsname.Name) bool {
	s := n.world.api.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for r, object := range s.objects {
		if r.Namespace == namespace && r.kind.Group == bindy.GroupVersion.Group && strings.HasSuffix(r.kind.Kind, "Record") &&
			readyNow(object) && zoneOf(object)+"." == zone.String() &&
			n.now().Sub(object.GetCreationTimestamp().Time) > time.Minute {
			return true
		}
	}
	return false
}

// zoneOf returns the name of the zone that has a record by its status.
func zoneOf(record *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(record.Object, "status", "zoneRef", "zoneName")
	return name
}

// serve notes a serial that is served behind the Service of an instance.
func (p *pod) serve(t *telling, serial uint32) {
	if was, known := t.served[p.of]; !known || rr.SerialLess(was.serial, serial) {
		t.served[p.of] = servedSerial{serial, p.nodes.now()}
	}
}

// appear looks at a pod that the Service of its instance leads to from now on.
func (p *pod) appear(now time.Time) {
	for zone, s := range p.disk.sites {
		t := p.nodes.stories[story{p.of.Namespace, zone}]
		if t == nil || !s.shown() {
			continue
		}
		soa, _, _ := p.disk.zones.Truth(zone)
		was, known := t.served[p.of]
		told := p.disk.boot == p.boot && !p.missed // else it serves what it has
		if known && told && rr.SerialLess(soa.Serial, was.serial) && now.Sub(was.since) > lagging {
			p.wrong("serial %d of %s is served behind the Service after %d", soa.Serial, zone, was.serial)
		}
		p.serve(t, soa.Serial)
	}
	p.missed = false
	if p.disk.boot != p.boot {
		return
	}
	store := p.nodes.world.api.store
	store.mu.Lock()
	objects := maps.Clone(store.objects)
	store.mu.Unlock()
	for r, object := range objects {
		if r.kind.Kind != "DNSZone" || object.GetDeletionTimestamp() != nil || !p.configured(object, now) {
			continue
		}
		zone, err := dnsname.Parse(texts(object, "spec")["zoneName"] + ".")
		if s := p.disk.sites[zone]; err != nil || s == nil || !s.shown() {
			p.wrong("a pod is ready without %s, which is Configured here", r)
		}
	}
}

// configured reports whether a DNSZone has said for a while that the instance of a pod has it.
func (p *pod) configured(object *unstructured.Unstructured, now time.Time) bool {
	instances, _, _ := unstructured.NestedSlice(object.Object, "status", "bind9Instances")
	return slices.ContainsFunc(instances, func(i any) bool {
		one, _ := i.(map[string]any)
		since, _ := one["lastReconciledAt"].(string)
		at, err := time.Parse(time.RFC3339, since)
		return one["namespace"] == p.of.Namespace && one["name"] == p.of.Name && one["state"] == "Configured" && err == nil &&
			now.Sub(at) > lagging
	})
}

// listed looks whether the status of an instance names a zone that a secondary of it is given: what the secondary has
// is known by nothing else.
func (p *pod) listed(zone string) {
	s := p.nodes.world.api.store
	s.mu.Lock()
	instance := s.objects[ref{p.nodes.world.api.kinds.named("Bind9Instance"), p.of.NamespacedName}]
	s.mu.Unlock()
	if instance == nil {
		return
	}
	zones, _, _ := unstructured.NestedSlice(instance.Object, "status", "zones")
	if !slices.ContainsFunc(zones, func(z any) bool {
		one, _ := z.(map[string]any)
		return one["zoneName"] == zone
	}) {
		p.wrong("a secondary is given %s, and the status of its instance does not name that", zone)
	}
}

// rolls looks, when the pods of a Deployment are to be replaced, whether those of another one of its cluster are being
// replaced. Where some are not ready anyhow, or were not a moment ago, nothing is lost. Those of a server that goes to
// another cluster go anyway, as those of one that is deleted. store.mu is held.
func (n *nodes) rolls(r ref, was, is *rollout) {
	cluster := was.template.Labels[bindy.ClusterLabel]
	if is.template.Labels[bindy.ClusterLabel] != cluster {
		return
	}
	for _, p := range n.sorted() {
		if p.of == r && (!p.ready || p.hash != was.hash || n.now().Sub(p.since) < together) {
			return
		}
	}
	for _, p := range n.sorted() {
		plan := n.plans[p.of]
		if p.of == r || p.of.Namespace != r.Namespace || plan == nil || plan.template.Labels[bindy.ClusterLabel] != cluster ||
			p.hash == plan.hash || !p.leaves.IsZero() || n.ends(p.of) {
			continue
		}
		n.wrong = append(n.wrong, fmt.Sprintf("the pods of %s are being replaced, and those of %s are to be, too", p.of, r))
	}
}

// ends reports whether the instance of a Deployment is being deleted: its pods go anyway, and nobody waits for them.
// store.mu is held.
func (n *nodes) ends(deployment ref) bool {
	instance := n.world.api.store.objects[ref{n.world.api.kinds.named("Bind9Instance"), deployment.NamespacedName}]
	return instance == nil || ending(instance)
}

func (p *pod) wrong(format string, args ...any) {
	p.nodes.world.fail(p.of.NamespacedName.String() + ": " + fmt.Sprintf(format, args...))
}

// begin begins the story of a zone anew if another object has it now: that one knows of no serials but its own.
func (n *nodes) begin(namespace string, zone dnsname.Name) {
	s := n.world.api.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for r, object := range s.objects {
		if r.kind.Kind != "DNSZone" || r.Namespace != namespace || object.GetDeletionTimestamp() != nil || texts(object,
			"spec")["zoneName"]+"." != zone.String() {
			continue
		}
		key := story{namespace, zone}
		if t := n.stories[key]; t == nil || t.of != object.GetUID() {
			n.stories[key] = &telling{of: object.GetUID(), contents: map[uint32]uint64{}, served: map[ref]servedSerial{}}
		}
		return
	}
}

// contents is what the ready pods of instances serve, without serials.
func (n *nodes) contents() string {
	if n == nil {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var out strings.Builder
	for _, p := range n.sorted() {
		fmt.Fprintf(&out, "pod of %s, ready: %v\n", p.of.NamespacedName, p.ready)
		for _, zone := range p.disk.zones.Zones() {
			s := p.disk.sites[zone]
			if s == nil || !s.shown() {
				continue
			}
			soa, sets, _ := p.disk.zones.Truth(zone)
			soa.Serial = 0
			fmt.Fprintf(&out, " %s primary: %v, tells %d %s\n", zone, s.primary, len(s.alsoNotify), soa.Data())
			for set := range sets.All() {
				fmt.Fprintf(&out, "  %s %d %s\n", set.Key(), set.TTL, strings.Join(set.Data, ", "))
			}
		}
	}
	return out.String()
}

// serves notes it as wrong if the pods of an instance do not show sets by now, each a line with name, type and a value;
// after "not ", if they do. mu is held.
func (n *nodes) serves(instance, text string) error {
	found := false
	for _, p := range n.sorted() {
		if p.of.NamespacedName.String() != instance || !p.running || !p.leaves.IsZero() {
			continue
		}
		found = true
		for line := range strings.Lines(text) {
			line, not := strings.CutPrefix(strings.TrimSpace(line), "not ")
			is, err := p.has(line)
			if err != nil {
				return err
			}
			if is == not {
				p.wrong("it serves %q: %t", line, is)
			}
		}
	}
	if !found {
		n.world.fail("no pod runs of " + instance)
	}
	return nil
}

// has reports whether a pod shows a value.
func (p *pod) has(line string) (bool, error) {
	words := strings.Fields(line)
	if len(words) != 3 {
		return false, errors.New("a line of serves is a name, a type and a value")
	}
	name, err := dnsname.Parse(words[0])
	typ, typeErr := rr.ParseType(words[1])
	for zone, s := range p.disk.sites {
		if name.Under(zone) && s.shown() {
			_, sets, _ := p.disk.zones.Truth(zone)
			set, _ := sets.Get(rr.Key{Name: name, Type: typ})
			return slices.Contains(set.Data, words[2]), errors.Join(err, typeErr)
		}
	}
	return false, errors.Join(err, typeErr)
}

// promised looks at pods when all is calm: a zone that is Ready is on all pods of its instances, and none is where no
// object has it.
func (n *nodes) promised(objects map[ref]*unstructured.Unstructured) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	wanted := map[string]string{} // instance and zone: the object
	for r, object := range objects {
		if r.kind.Kind != "DNSZone" {
			continue
		}
		zone, _, _ := unstructured.NestedString(object.Object, "spec", "zoneName")
		instances, _, _ := unstructured.NestedSlice(object.Object, "status", "bind9Instances")
		for _, i := range instances {
			if one, ok := i.(map[string]any); ok && one["state"] == "Configured" {
				wanted[fmt.Sprintf("%s/%s %s.", one["namespace"], one["name"], zone)] = r.String()
			}
		}
	}
	for _, p := range n.sorted() {
		for zone := range p.disk.sites {
			if wanted[p.of.NamespacedName.String()+" "+zone.String()] == "" {
				p.wrong("no object has the zone %s here", zone)
			}
		}
		for want, object := range wanted {
			instance, zone, _ := strings.Cut(want, " ")
			name, _ := dnsname.Parse(zone)
			if s := p.disk.sites[name]; instance == p.of.NamespacedName.String() && (s == nil || !s.shown() || !p.ready) {
				p.wrong("%s is Configured here, and a pod does not serve it", object)
			}
		}
	}
	for r, object := range objects {
		if strings.HasSuffix(r.kind.Kind, "Record") && r.kind.Group == "bindy.firestoned.io" && ready(object) {
			n.published(r, object)
		}
	}
}

// published looks for a record that is Ready at all pods of the zone that has it.
func (n *nodes) published(r ref, record *unstructured.Unstructured) {
	status := texts(record, "status")
	name, err := dnsname.Parse(strings.TrimSuffix(status["publishedName"], ".") + ".")
	typ, typeErr := rr.ParseType(strings.TrimSuffix(r.kind.Kind, "Record"))
	zone, zoneErr := dnsname.Parse(zoneOf(record) + ".")
	if err := errors.Join(err, typeErr, zoneErr); err != nil {
		n.world.fail(fmt.Sprintf("%s is Ready, and does not say where: %v", r, err))
		return
	}
	found := false
	for _, p := range n.pods {
		s := p.disk.sites[zone]
		if p.of.Namespace != r.Namespace || s == nil || !s.shown() {
			continue
		}
		_, sets, _ := p.disk.zones.Truth(zone)
		set, there := sets.Get(rr.Key{Name: name, Type: typ})
		if value := valueOf(record); !there || value != "" && !slices.Contains(set.Data, value) {
			p.wrong("%s is Ready, and is not here", r)
		}
		found = true
	}
	if !found {
		n.world.fail(fmt.Sprintf("%s is Ready, and no server has its zone", r))
	}
}

// valueOf is what a record holds, "" for kinds that lives do not look at.
func valueOf(record *unstructured.Unstructured) string {
	spec := texts(record, "spec")
	if record.GetKind() == "ARecord" {
		return spec["ipv4"]
	}
	return ""
}
