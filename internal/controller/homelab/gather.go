package homelab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
	"github.com/zonefold/zonefold/internal/zone"
)

// Objects are what the dialect reads from the cache.
func Objects() []client.Object {
	return []client.Object{&v1alpha1.DNSClass{}, &v1alpha1.DNSRecord{}, servers.Secrets()}
}

// gather follows everything from now on. What it returns tell when every object that existed has been put into the
// Core.
func (k *Controller) gather(ctx context.Context) ([]toolscache.InformerSynced, error) {
	handlers := []toolscache.ResourceEventHandlerFuncs{
		controller.HandlerOf(k.putClass, k.dropClass), controller.HandlerOf(k.putRecord, k.dropRecord),
		controller.HandlerOf(
			func(o *metav1.PartialObjectMetadata) { k.sawSecret(o, string(o.UID)+"/"+o.ResourceVersion) },
			func(o *metav1.PartialObjectMetadata) { k.sawSecret(o, "") }),
	}
	var synced []toolscache.InformerSynced
	for i, object := range Objects() {
		has, err := controller.Follow(ctx, k.Cache, k.objects, object, handlers[i])
		if err != nil {
			return nil, err
		}
		synced = append(synced, has)
	}
	return synced, nil
}

func (k *Controller) putRecord(o *v1alpha1.DNSRecord) {
	m, unlock := k.model.Lock()
	defer unlock()
	id := dialect.RecordID(o.Namespace, o.Name)
	r := m.records[id]
	if r != nil && r.object.UID != o.UID {
		m.remove(r)
		r = nil
	}
	var before *v1alpha1.DNSRecord
	if r == nil {
		r = load(o)
		m.records[id] = r
		k.Numbers.moved("", r.status.State)
	} else {
		before, r.object = r.object, o
		switch {
		case k.objects.Behind(o) != nil: // what our last write has made of it is newer
		case o.ResourceVersion == r.base.GetResourceVersion(): // the answer to it need not be kept; what it means is known
			r.base = o
			if equality.Semantic.DeepEqual(*r.status, o.Status) {
				r.status = &o.Status
			}
		default:
			m.reads(r, o, &o.Status)
		}
	}
	if a := o.Status.Applied; a != nil && r.applied != nil && *r.applied == *a {
		r.applied = a
	}
	switch {
	case before != nil && before.Generation == o.Generation &&
		before.DeletionTimestamp.IsZero() == o.DeletionTimestamp.IsZero():
		if before.Annotations[v1alpha1.DeletionPolicyAnnotation] != o.Annotations[v1alpha1.DeletionPolicyAnnotation] {
			m.reindex(r)
		}
	case r.deleting():
		k.Core.DeleteClaim(id)
		m.reindex(r)
	default:
		claim := r.convert()
		m.reindex(r)
		k.Core.PutClaim(claim, r.current())
	}
	k.recordWriter.Enqueue(id)
}

// load reads what an earlier run has written down about a record.
func load(o *v1alpha1.DNSRecord) *record {
	r := &record{id: dialect.RecordID(o.Namespace, o.Name), object: o,
		inCluster: inCluster{status: &o.Status, statusWritten: begun(&o.Status), stored: storedHashOf(o.Status)}}
	r.know(o)
	r.applied, r.former = o.Status.Applied, slices.Clone(o.Status.Former)
	r.convert()
	return r
}

// convert reads what the object asks for.
func (r *record) convert() zone.Claim {
	claim, wanted := dialect.ConvertRecord(r.object)
	r.wanted, r.key = wanted, slotKey{}
	if wanted.Code == "" {
		r.key = keyOf(r.object.Spec.DNSClassRef.Name, wanted.Record.ID())
	}
	return claim
}

func (k *Controller) dropRecord(o *v1alpha1.DNSRecord) {
	m, unlock := k.model.Lock()
	defer unlock()
	if r := m.records[dialect.RecordID(o.Namespace, o.Name)]; r != nil && r.object.UID == o.UID {
		m.remove(r)
		if !r.deleting() { // else its claim is gone: nothing changes, and a burst of it would hold up what is let go
			k.Core.DeleteClaim(r.id)
		}
	}
}

// remove forgets an object that is gone.
func (m *model) remove(r *record) {
	delete(m.records, r.id)
	m.reindex(r)
	m.k.Metrics.Judged(r.id.Kind, string(r.verdict.Reason), "")
	m.k.Numbers.moved(r.status.State, "")
}

func (k *Controller) putClass(o *v1alpha1.DNSClass) {
	m, unlock := k.model.Lock()
	defer unlock()
	c := m.classes[o.Name]
	if c != nil && c.object.UID == o.UID && c.object.Generation == o.Generation {
		c.object = o
		k.classWriter.Enqueue(dialect.ClassID(o.Name))
		return
	}
	if c == nil || c.object.UID != o.UID {
		c = &class{name: o.Name, server: servers.New(k.calls, o.Name)}
		m.classes[o.Name] = c
	}
	c.object = o
	if !o.DeletionTimestamp.IsZero() { // it need not stay for what it does not have
		byName := func(a, b *record) int { return a.id.Compare(b.id) }
		for _, r := range slices.SortedFunc(maps.Keys(m.needs[o.Name]), byName) {
			m.index(r)
		}
	}
	m.revise(c)
	k.Core.PutZone(dialect.ConvertClass(o), core.VersionOf(o))
	k.classWriter.Enqueue(dialect.ClassID(o.Name))
	k.audits.EnqueueAfter(dialect.ClassID(o.Name), k.firstAudit(m.stillLate()))
}

// revise notes that a class, or a Secret that it names, is another one.
func (m *model) revise(c *class) {
	revision := fmt.Sprint(c.object.UID, " ", c.object.Generation)
	for _, ref := range servers.SecretsOf(c.object) {
		revision += " " + m.secrets[ref.String()]
	}
	if c.revision == revision {
		return
	}
	first := c.revision == ""
	c.server.Use(c.object, revision)
	c.poorly = 0
	c.since, c.revision, c.tells, c.checked = m.k.Clock.Now(), revision, tellsMaybe, nil
	if first {
		m.k.healths.EnqueueAfter(dialect.ClassID(c.name), m.k.startAfter())
	} else {
		m.k.healths.Enqueue(dialect.ClassID(c.name))
	}
	m.retryFailed(c.name)
}

func (k *Controller) dropClass(o *v1alpha1.DNSClass) {
	m, unlock := k.model.Lock()
	defer unlock()
	if c := m.classes[o.Name]; c != nil && c.object.UID == o.UID {
		delete(m.classes, o.Name)
		if q := m.queues[o.Name]; q != nil {
			q.ShutDown() // what waits in it is looked at, and what is under way is finished
		}
		k.Core.DeleteZone(dialect.ClassID(o.Name))
	}
}

// sawSecret has the classes be other ones that name a Secret; "": it is gone.
func (k *Controller) sawSecret(o *metav1.PartialObjectMetadata, version string) {
	name := o.Namespace + "/" + o.Name
	m, unlock := k.model.Lock()
	defer unlock()
	if m.secrets[name] == version {
		return
	}
	if m.secrets[name] = version; version == "" {
		delete(m.secrets, name)
	}
	for _, class := range slices.Sorted(maps.Keys(m.classes)) {
		c := m.classes[class]
		for _, ref := range servers.SecretsOf(c.object) {
			if ref.String() == name {
				m.revise(c)
			}
		}
	}
}

// title names a set for people.
func title(key slotKey) string { return strings.TrimSpace(key.fqdn + " " + key.kind) }
