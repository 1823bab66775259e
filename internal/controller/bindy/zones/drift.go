package zones

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// drifts are what somebody else changes at servers.
type drifts struct{ z *Zones }

// report makes an event of what somebody else has changed at a server, which is put right. The event is related to
// the instance: events about one object that differ in their text alone are one.
func (d drifts) report(s delivery.Drift) {
	ctx := context.Background() // it is all from memory
	o, err := d.z.zone(ctx, s.Zone)
	if err != nil {
		return // it is gone, and so is who could be told
	}
	var related runtime.Object
	if key, ok := instanceOf(s.Place); ok {
		var i v1beta1.Bind9Instance
		if err := d.z.Client.Get(ctx, key, &i); err == nil {
			related = &i
		}
	}
	var names []string
	for _, k := range s.Sets {
		names = append(names, k.String())
	}
	slices.Sort(names)
	d.z.Events.Eventf(o, related, corev1.EventTypeWarning, v1beta1.ReasonForeignChange, v1beta1.ConditionReady, "%s",
		controller.Note(dialect.Sentence(
			"Something other than zonefold changed %s at Bind9Instance %s; the operator restores it. Change records instead.",
			dialect.List(names), s.Place)))
}

// suspect has the secondaries of a zone transfer all of it once it is right again. A server counts serials too
// when somebody else writes there: secondaries may have got from it under a serial what the other primaries have
// something else under, and the differences to that (RFC 1995) would never put it right.
func (d drifts) suspect(s delivery.Drift) {
	d.z.suspect(s.Zone)
	d.z.visitServers(s.Zone)
}
