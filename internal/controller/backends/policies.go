package backends

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
)

// Policies tell the operator's own name server who may follow it. Every replica has
// them, for all answer; what is wrong with a Backend is told by the one that leads.
type Policies struct {
	Source
	Set  func(EmbeddedSettings) error // called when they have changed
	Drop func(name string)            // there is no such Backend any more

	known guarded.Value[map[string]EmbeddedSettings] // locked over a look: one at a time
}

// Run follows Backends and Secrets until ctx ends.
func (p *Policies) Run(ctx context.Context) error {
	look := func(name string) { p.look(ctx, name) }
	each := eachBackend(look)
	_, err := p.follow(ctx, nil, []followed{
		{object: &corev1.Secret{}, look: func(any) { p.every(ctx, func(b *v1alpha1.Backend) { look(b.Name) }) }},
		{object: &v1alpha1.Backend{}, look: func(o any) {
			each(o)
			p.every(ctx, func(b *v1alpha1.Backend) { // another one may get the catalog zone, or lose it
				if b.Spec.Embedded != nil && b.Spec.Embedded.CatalogZone != "" {
					look(b.Name)
				}
			})
		}},
	})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// look resolves one Backend anew. An entry that cannot be resolved lets nobody in.
func (p *Policies) look(ctx context.Context, name string) {
	known, unlock := p.known.Lock()
	defer unlock()
	var backend v1alpha1.Backend
	err := p.Client.Get(ctx, client.ObjectKey{Name: name}, &backend)
	switch {
	case apierrors.IsNotFound(err) || err == nil && backend.Spec.Embedded == nil:
		if _, ok := (*known)[name]; ok {
			delete(*known, name)
			p.Drop(name)
		}
		return
	case err != nil:
		p.Log.Error("reading a Backend", "backend", name, "error", err)
		return
	}
	settings, _, _, _ := p.settings(ctx, &backend)
	if settings.Embedded == nil {
		return // what was stays
	}
	if p.elder(ctx, &backend) != "" {
		settings.Embedded.Catalog = dnsname.Name{}
	}
	if old, ok := (*known)[name]; ok && reflect.DeepEqual(old, *settings.Embedded) {
		return
	}
	if err := p.Set(*settings.Embedded); err != nil {
		p.Log.Warn("a Backend's settings for name servers that follow cannot be used", "backend", name, "error", err)
		return
	}
	if *known == nil {
		*known = map[string]EmbeddedSettings{}
	}
	(*known)[name] = *settings.Embedded
}
