package homelab

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
)

// Numbers are the metrics of the dialect; docs/metrics.md describes them.
type Numbers struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	queue    *prometheus.GaugeVec
	records  *prometheus.GaugeVec
}

// NewNumbers returns metrics that are not registered yet.
func NewNumbers() *Numbers {
	return &Numbers{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "zonefold", Subsystem: "dnshook",
			Name: "requests_total",
			Help: "Calls to the servers of DNSClasses, by operation and outcome."}, []string{"class", "operation",
			"result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "zonefold", Subsystem: "dnshook",
			Name: "request_seconds",
			Help: "Time of one call to the server of a DNSClass.", Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 12)},
			[]string{"class", "operation"}),
		queue: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "zonefold", Subsystem: "dnshook", Name: "queue",
			Help: "Records of a DNSClass that wait for their turn."}, []string{"class"}),
		records: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "zonefold", Name: "dnsrecords",
			Help: "DNSRecords by the state in their status."}, []string{"state"}),
	}
}

// Register makes the metrics visible.
func (n *Numbers) Register(r prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{n.requests, n.seconds, n.queue, n.records} {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// asked counts a call.
func (n *Numbers) asked(class, operation string, err error, took time.Duration) {
	result := "Success"
	if err != nil {
		f, _, _ := servers.Explain(class, err)
		result = f.Reason
	}
	n.requests.WithLabelValues(class, operation, result).Inc()
	n.seconds.WithLabelValues(class, operation).Observe(took.Seconds())
}

// waiting says how many slots of a class wait for a worker.
func (n *Numbers) waiting(class string, length int) {
	n.queue.WithLabelValues(class).Set(float64(length))
}

// left forgets a class that is gone.
func (n *Numbers) left(class string) {
	of := prometheus.Labels{"class": class}
	n.requests.DeletePartialMatch(of)
	n.seconds.DeletePartialMatch(of)
	n.queue.DeletePartialMatch(of)
}

// moved counts a DNSRecord that is in another state now; an empty one is none.
func (n *Numbers) moved(from, to v1alpha1.RecordState) {
	if from == to {
		return
	}
	if from != "" {
		n.records.WithLabelValues(string(from)).Dec()
	}
	if to != "" {
		n.records.WithLabelValues(string(to)).Inc()
	}
}
