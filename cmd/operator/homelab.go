package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	api "github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/homelab"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
)

// hooks are what the environment says about DNSClasses and DNSRecords, by the names of the dialect's document.
type hooks struct {
	health time.Duration
	retry  servers.Retry
}

func parseHooks(env func(string) string) (hooks, error) {
	h := hooks{servers.DefaultHealthInterval, servers.Retry{
		BaseDelay: servers.DefaultBaseDelay, MaxDelay: servers.DefaultMaxDelay, MaxAttempts: servers.DefaultMaxAttempts,
	}}
	for _, v := range []struct {
		name string
		into *time.Duration
	}{
		{"DNS_CLASS_HEALTH_CHECK_INTERVAL", &h.health},
		{"DNS_RECORD_RETRY_BASE_DELAY", &h.retry.BaseDelay},
		{"DNS_RECORD_RETRY_MAX_DELAY", &h.retry.MaxDelay},
	} {
		text := env(v.name)
		if text == "" {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Millisecond {
			return h, fmt.Errorf("the environment variable %s is %q, not a duration such as 10m or 5s", v.name, text)
		}
		*v.into = d
	}
	if text := env("DNS_RECORD_RETRY_MAX_ATTEMPTS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return h, fmt.Errorf("the environment variable DNS_RECORD_RETRY_MAX_ATTEMPTS is %q, not a number such as 5",
				text)
		}
		h.retry.MaxAttempts = n
	}
	h.retry.Slow = h.health
	return h, nil
}

// addHomelab has the manager run the dialect homelab while it leads.
func addHomelab(ctx context.Context, m *parts, numbers *controller.Metrics) error {
	objects, c, err := m.reads(ctx, dialectHomelab, homelab.CacheOptions(m.GetScheme()), homelab.Objects())
	if err != nil {
		return err
	}
	calls := homelab.NewNumbers()
	if err := calls.Register(m.registry); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	foresight := &core.Foresight{}
	m.examiners = append(m.examiners, homelab.Examiners(homelab.Reviews{
		Live: m.live(), Clock: clock.RealClock{}, Foresight: foresight, Lenient: m.options.admission.lenient,
	})...)
	inspection := &delivery.Inspection{}
	m.resources = append(m.resources, homelab.Resources(inspection)...)
	m.classes = &servers.Classes{Cached: c, Live: m.live(), Cache: objects, Clock: clock.RealClock{}, Transport: m.hooked}
	catchUp, err := m.catchUp(objects, c)
	if err != nil {
		return err
	}
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if err := catchUp.Wait(ctx, &api.DNSClass{}, &api.DNSRecord{}); err != nil {
			return nil //nolint:nilerr // the term is over before it has begun
		}
		return homelab.New(homelab.Config{
			Client: c, Live: m.live(), Cache: objects, Events: m.GetEventRecorder("zonefold"), Log: m.log,
			Metrics: numbers, Numbers: calls, Clock: clock.RealClock{}, Rand: m.chance, Leads: m.leads(),
			Late: m.late(), Foresight: foresight, Inspection: inspection, Tracer: m.engine.Tracer,
			Retry: m.hooks.retry, HealthInterval: m.hooks.health, Audit: m.audit, Transport: m.hooked,
		}).Run(ctx)
	}))
}
