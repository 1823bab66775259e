package controller

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zonefold/zonefold/internal/backend"
)

// Metrics are the operator's own; docs/metrics.md describes them. Labels are bounded:
// kinds of backends, classes of errors, reasons and kinds of objects.
type Metrics struct {
	settleSeconds prometheus.Histogram
	settlePuts    prometheus.Counter
	served        prometheus.Histogram
	objects       *prometheus.GaugeVec
	applySeconds  *prometheus.HistogramVec
	changes       *prometheus.CounterVec
	readSeconds   *prometheus.HistogramVec
	refusedSets   *prometheus.CounterVec
	errors        *prometheus.CounterVec
	writes        *prometheus.CounterVec
	held          *prometheus.GaugeVec
	left          *prometheus.GaugeVec
}

// NewMetrics returns metrics that are not registered yet.
func NewMetrics() *Metrics {
	fine := prometheus.ExponentialBuckets(0.0001, 2.5, 12)
	slow := prometheus.ExponentialBuckets(0.001, 2.5, 12)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "zonefold", Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Namespace: "zonefold", Name: name, Help: help, Buckets: buckets}
	}
	return &Metrics{
		settleSeconds: prometheus.NewHistogram(histogram("settle_seconds", "Time to recompute the zones after changes.",
			fine)),
		settlePuts: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "zonefold", Name: "changes_total",
			Help: "Changes of objects that were read."}),
		served: prometheus.NewHistogram(histogram("change_to_served_seconds",
			"Time from reading a change of a zone until every Backend has confirmed it.", slow)),
		objects: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "zonefold", Name: "objects",
			Help: "Objects by kind and by the reason of their verdict; every reason except Accepted is a refusal."},
			[]string{"kind", "reason"}),
		applySeconds: prometheus.NewHistogramVec(histogram("backend_apply_seconds", "Time of one batch sent to a server.",
			slow), []string{"backend"}),
		changes: counter("backend_changed_sets_total", "Record sets changed on servers.", "backend"),
		readSeconds: prometheus.NewHistogramVec(histogram("backend_read_seconds",
			"Time of one reading of a zone from a server.", slow), []string{"backend"}),
		refusedSets: counter("backend_refused_sets_total", "Record sets that a server, or its limits, refused.", "backend"),
		errors:      counter("backend_errors_total", "Calls of servers that failed, by class.", "backend", "class"),
		writes:      counter("api_writes_total", "Writes to the API server.", "kind", "what"),
		held: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "zonefold", Name: "held_sets",
			Help: "Record sets that stay on servers because too many would be deleted."}, []string{"backend"}),
		left: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "zonefold", Name: "left_behind_zones",
			Help: "Zones of deleted objects that are still on unreachable servers."}, []string{"backend"}),
	}
}

// Register makes the metrics visible.
func (m *Metrics) Register(r prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{
		m.settleSeconds, m.settlePuts, m.served, m.objects, m.applySeconds, m.changes,
		m.readSeconds, m.refusedSets, m.errors, m.writes, m.held, m.left,
	} {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// NewUnreadKinds is the metric of the kinds that sources need and that cannot be read.
func NewUnreadKinds(count func() float64) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "zonefold", Name: "unread_kinds",
		Help: "Kinds of objects that sources need but that cannot be read."}, count)
}

// Confirmed counts a change of a zone that every Backend has confirmed.
func (m *Metrics) Confirmed(took time.Duration) { m.served.Observe(took.Seconds()) }

// Settled counts a step of the World.
func (m *Metrics) Settled(took time.Duration, puts int) {
	m.settleSeconds.Observe(took.Seconds())
	m.settlePuts.Add(float64(puts))
}

// Wrote counts a write to the API server.
func (m *Metrics) Wrote(kind, what string) { m.writes.WithLabelValues(kind, what).Inc() }

// Judged moves an object from one reason to another; an empty reason is none.
func (m *Metrics) Judged(kind, from, to string) {
	if from == to {
		return
	}
	if from != "" {
		m.objects.WithLabelValues(kind, from).Dec()
	}
	if to != "" {
		m.objects.WithLabelValues(kind, to).Inc()
	}
}

// Applied counts a batch.
func (m *Metrics) Applied(kind string, changes int, took time.Duration, class backend.ErrorClass) {
	m.applySeconds.WithLabelValues(kind).Observe(took.Seconds())
	if class == "" {
		m.changes.WithLabelValues(kind).Add(float64(changes))
	}
	m.failed(kind, class)
}

// Read counts a reading.
func (m *Metrics) Read(kind string, _ int, took time.Duration, class backend.ErrorClass) {
	m.readSeconds.WithLabelValues(kind).Observe(took.Seconds())
	m.failed(kind, class)
}

// Refused counts sets that a server does not take.
func (m *Metrics) Refused(kind string, sets int) {
	m.refusedSets.WithLabelValues(kind).Add(float64(sets))
}

// Held counts sets whose deletion waits for somebody's approval.
func (m *Metrics) Held(kind string, more int) { m.held.WithLabelValues(kind).Add(float64(more)) }

// Left counts zones that deleted objects have left behind.
func (m *Metrics) Left(kind string, more int) { m.left.WithLabelValues(kind).Add(float64(more)) }

// Raised counts ceilings that were stored.
func (m *Metrics) Raised(class backend.ErrorClass) { m.failed("ceiling", class) }

func (m *Metrics) failed(kind string, class backend.ErrorClass) {
	if class != "" {
		m.errors.WithLabelValues(kind, string(class)).Inc()
	}
}
