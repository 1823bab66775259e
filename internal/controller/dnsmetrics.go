package controller

import "github.com/prometheus/client_golang/prometheus"

// DNSMetrics count what the operator's own name server does; docs/metrics.md describes
// them.
type DNSMetrics struct {
	answers   *prometheus.CounterVec
	byRcode   [2][]prometheus.Counter // of answers, over UDP and TCP
	transfers *prometheus.CounterVec
	notifies  *prometheus.CounterVec
}

// rcodes are those that the name server answers with (RFC 6895 §2.3); any other one is
// counted as OTHER.
var rcodes = map[int]string{
	0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED", 9: "NOTAUTH", 16: "BADVERS",
}

// maxRcode is the highest of them, and other one that is none of them.
const maxRcode, other = 16, 15

// NewDNSMetrics returns metrics that are not registered yet.
func NewDNSMetrics() *DNSMetrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "zonefold", Subsystem: "dns", Name: name,
			Help: help}, labels)
	}
	m := &DNSMetrics{
		answers: counter("answers_total", "Answers that the operator's own name server has sent.", "rcode", "transport"),
		transfers: counter("transfers_total", "Requested transfers, by kind and outcome.", "kind",
			"outcome"),
		notifies: counter("notifies_total", "Servers notified of a change, by outcome.", "outcome"),
	}
	for i, transport := range []string{"udp", "tcp"} {
		for rcode := range maxRcode + 1 {
			name, ok := rcodes[rcode]
			if !ok {
				name = "OTHER"
			}
			m.byRcode[i] = append(m.byRcode[i], m.answers.WithLabelValues(name, transport))
		}
	}
	return m
}

// Register makes the metrics visible.
func (m *DNSMetrics) Register(r prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{m.answers, m.transfers, m.notifies} {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// Answered counts an answer.
func (m *DNSMetrics) Answered(tcp bool, rcode int) {
	transport := 0
	if tcp {
		transport = 1
	}
	if rcode < 0 || rcode > maxRcode {
		rcode = other
	}
	m.byRcode[transport][rcode].Inc()
}

// Transferred counts what became of a transfer.
func (m *DNSMetrics) Transferred(kind, outcome string) {
	m.transfers.WithLabelValues(kind, outcome).Inc()
}

// Notified counts what became of telling a server of a change.
func (m *DNSMetrics) Notified(outcome string) { m.notifies.WithLabelValues(outcome).Inc() }
