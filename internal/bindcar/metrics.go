package bindcar

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics have the names and labels of the existing bindcar, so that its dashboards go on working.
type Metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	zones     *prometheus.CounterVec
	commands  *prometheus.CounterVec
	commandIn *prometheus.HistogramVec
	limited   *prometheus.CounterVec
	reviews   *prometheus.CounterVec
}

// newMetrics makes the metrics of one server. managed counts the zones at the moment of a scrape.
func newMetrics(version string, managed func() float64) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bindcar_http_requests_total", Help: "HTTP requests by method, template of the path and status.",
		}, []string{"method", "path", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "bindcar_http_request_duration_seconds", Help: "Time of HTTP requests.",
			Buckets: []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		}, []string{"method", "path"}),
		zones: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bindcar_zone_operations_total", Help: "Operations on zones and, as record_add and so on, on records.",
		}, []string{"operation", "result"}),
		commands: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bindcar_rndc_commands_total", Help: "Commands given to BIND; updates as nsupdate_add and so on.",
		}, []string{"command", "result"}),
		commandIn: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "bindcar_rndc_command_duration_seconds", Help: "Time of commands given to BIND.",
			Buckets: []float64{0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		}, []string{"command"}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bindcar_rate_limit_requests_total", Help: "Requests that the rate limit allowed or rejected.",
		}, []string{"result"}),
		reviews: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bindcar_token_reviews_total", Help: "Questions to the API server about tokens: accepted, refused, failed.",
		}, []string{"result"}),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "bindcar_app_info", Help: "1, with the version as label.", ConstLabels: prometheus.Labels{"version": version},
	})
	info.Set(1)
	m.registry.MustRegister(m.requests, m.duration, m.zones, m.commands, m.commandIn, m.limited, m.reviews, info,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "bindcar_zones_managed", Help: "Zones that are managed here."},
			managed))
	return m
}

func result(err error) string {
	if err != nil {
		return "error"
	}
	return "success"
}

func (m *Metrics) request(method, path string, status int, took time.Duration) {
	m.requests.WithLabelValues(method, path, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(method, path).Observe(took.Seconds())
}

func (m *Metrics) operation(name string, err error) { m.zones.WithLabelValues(name, result(err)).Inc() }

func (m *Metrics) command(name string, err error, took time.Duration) {
	m.commands.WithLabelValues(name, result(err)).Inc()
	m.commandIn.WithLabelValues(name).Observe(took.Seconds())
}
