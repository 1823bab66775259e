package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/gardener"
	"github.com/zonefold/zonefold/internal/controller/homelab"
	"github.com/zonefold/zonefold/internal/controller/kubizone"
	"github.com/zonefold/zonefold/internal/tracing"
)

// The dialects by their names in --dialects. One that is off costs no watch and needs no right.
const (
	dialectKubizone = "kubizone"
	dialectBindy    = "bindy"
	dialectHomelab  = "homelab"
	dialectGardener = "gardener"
)

// A dialect is how one is put into the operator.
type dialect struct {
	name    string
	group   string // of its objects
	schemas []controller.Schema
	optIn   bool // it is on only if somebody says so
	add     func(ctx context.Context, m *parts, numbers *controller.Metrics) error
}

func knownDialects() []dialect {
	return []dialect{
		{dialectKubizone, "kubi.zone", kubizone.Schemas(), false, addKubizone},
		{dialectBindy, "bindy.firestoned.io", bindy.Schemas(), true, addBindy},
		{dialectHomelab, "dns.homelab.mortenolsen.pro", homelab.Schemas(), true, addHomelab},
		{dialectGardener, "extensions.gardener.cloud", gardener.Schemas(), true, addGardener},
	}
}

// dialects are names of dialects that are on; it is a flag.
type dialects []string

func everyDialect() dialects {
	var out dialects
	for _, d := range knownDialects() {
		out = append(out, d.name)
	}
	return out
}

// usualDialects are those that are on unless somebody says otherwise, as in the chart.
func usualDialects() dialects {
	var out dialects
	for _, d := range knownDialects() {
		if !d.optIn {
			out = append(out, d.name)
		}
	}
	return out
}

// String implements flag.Value.
func (d *dialects) String() string { return strings.Join(*d, ",") }

// Set implements flag.Value.
func (d *dialects) Set(text string) error {
	var on dialects
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if every := everyDialect(); !every.has(name) {
			return fmt.Errorf("there is no dialect %s; choose from %s", name, strings.Join(every, ", "))
		}
		on = append(on, name)
	}
	if len(on) == 0 {
		return fmt.Errorf("an operator without a dialect does nothing; choose from %s", strings.Join(everyDialect(), ", "))
	}
	*d = on
	return nil
}

func (d dialects) has(name string) bool { return slices.Contains(d, name) }

// addDialects has the manager run the dialects that are on.
func addDialects(ctx context.Context, m *parts) error {
	numbers := controller.NewMetrics()
	if err := numbers.Register(m.registry); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	m.engine = delivery.NewEngine(engine.Config{
		Clock: backend.SystemClock{}, Rand: m.chance, Log: m.log, Metrics: numbers, Audit: m.audit, Leads: m.leads(),
		Late: m.late(),
	})
	if m.traces != nil {
		m.engine.Tracer = m.traces.Tracer("github.com/zonefold/zonefold")
		if err := m.Add(everywhere{func(ctx context.Context) error {
			<-ctx.Done()
			tracing.Flush(ctx, m.traces, m.log)
			return nil
		}}); err != nil {
			return err
		}
	}
	for _, d := range slices.Backward(knownDialects()) { // Backends of the first name what the later ones run
		if !m.dialects.has(d.name) {
			continue
		}
		for _, schema := range d.schemas {
			if err := schema.Check(ctx, m.GetAPIReader()); err != nil {
				return fmt.Errorf("the dialect %s cannot work: %w, or remove %s from --dialects", d.group, err, d.name)
			}
		}
		if err := d.add(ctx, m, numbers); err != nil {
			return fmt.Errorf("starting the dialect %s: %w", d.group, err)
		}
	}
	if err := addAdmission(ctx, m); err != nil {
		return err
	}
	return addInspection(ctx, m)
}
