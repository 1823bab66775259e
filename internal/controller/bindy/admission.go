package bindy

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// Examiners are what admission asks about the kinds of this dialect.
func (b *Controller) Examiners() []controller.Examiner {
	out := []controller.Examiner{
		{Kind: &v1beta1.ClusterBind9Provider{}, Faults: b.faults, Look: b.lookAtFleet},
		{Kind: &v1beta1.Bind9Cluster{}, Faults: b.faults, Look: b.lookAtFleet},
		{Kind: &v1beta1.Bind9Instance{}, Faults: b.faults, Look: b.lookAtInstance, Labels: true},
		{Kind: &v1beta1.DNSZone{}, Faults: b.faults, Look: b.zones.LookAtZone, Labels: true},
	}
	for _, kind := range RecordKinds() {
		out = append(out, controller.Examiner{Kind: kind, Faults: b.faults, Look: b.zones.LookAtRecord, Labels: true})
	}
	return out
}

// faults are an object's own. An instance of a cluster has some of its settings from there; it is looked at instead.
func (b *Controller) faults(o client.Object) []string {
	return dialect.Faults(o, b.Settings, func(string, string) (string, *v1beta1.CommonSpec) { return "", nil })
}

func (b *Controller) lookAtInstance(ctx context.Context, _, o client.Object) (f controller.Findings) {
	i, ok := o.(*v1beta1.Bind9Instance)
	if !ok {
		return f
	}
	p, trouble, err := b.servers.Plan(ctx, i)
	if err == nil && trouble == nil {
		trouble = servers.MissesCluster(i, p)
	}
	switch {
	case err != nil:
	case trouble != nil:
		f.Warnings = append(f.Warnings, dialect.Sentence("refused (%s): %s", trouble.Reason, trouble.Message))
	default:
		f.Warnings = dialect.Notes(p.CautionsForPeople(dialect.Describe(v1beta1.KindInstance, client.ObjectKeyFromObject(i))))
	}
	return f
}

// lookAtFleet says what deserves a look about the servers that a cluster or provider asks for.
func (b *Controller) lookAtFleet(_ context.Context, _, o client.Object) (f controller.Findings) {
	f.Warnings = dialect.Notes(dialect.Cautions(o, b.Settings, nil)) // of clusters and providers: nothing is above them
	return f
}
