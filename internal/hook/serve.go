package hook

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/zonefold/zonefold/dnshook"
)

// ServeConfig says how a server is reached.
type ServeConfig struct {
	Handler  http.Handler
	Health   func(context.Context) error // for /readyz
	Metrics  *Metrics
	Listener net.Listener
	Admin    net.Listener // for /metrics, /healthz and /readyz; nil: there are none
	TLS      *tls.Config  // nil: plain HTTP
	Log      *slog.Logger
}

// farewell is how long requests that are under way may take at the end.
const farewell = 25 * time.Second

// Serve answers until the context ends, and then what has begun.
func Serve(ctx context.Context, cfg ServeConfig) error {
	server := &http.Server{
		Handler: cfg.Handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	listener := cfg.Listener
	if cfg.TLS != nil {
		listener = tls.NewListener(listener, cfg.TLS)
	}
	failed := make(chan error, 2)
	go func() { failed <- server.Serve(listener) }()
	if cfg.Admin != nil {
		admin := &http.Server{Handler: cfg.admin(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: server.ErrorLog}
		go func() { failed <- admin.Serve(cfg.Admin) }()
		defer func() { _ = admin.Close() }() // nobody waits for it
	}
	select {
	case err := <-failed:
		return errors.Join(err, server.Close())
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		return fmt.Errorf("some requests were not answered: %w", err)
	}
	return nil
}

// admin serves those who look after the server.
func (cfg ServeConfig) admin() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(cfg.Metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := cfg.Health(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}

// Metrics count requests.
type Metrics struct {
	registry   *prometheus.Registry
	requests   *prometheus.CounterVec
	durations  *prometheus.HistogramVec
	operations prometheus.Counter
}

// NewMetrics makes the metrics of one server.
func NewMetrics(collectors ...prometheus.Collector) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "dnshook_requests_total", Help: "Requests answered, by endpoint, status of HTTP, and code of the protocol " +
				"where there is one.",
		}, []string{"endpoint", "status", "code"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "dnshook_request_duration_seconds", Help: "How long answers took, by endpoint.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 10),
		}, []string{"endpoint"}),
		operations: prometheus.NewCounter(prometheus.CounterOpts{Name: "dnshook_batch_operations_total",
			Help: "Operations that came in batches."}),
	}
	m.registry.MustRegister(append(collectors, m.requests, m.durations, m.operations)...)
	return m
}

// Observer counts requests, and logs those that change something and those that fail.
func (m *Metrics) Observer(log *slog.Logger) func(dnshook.Exchange) {
	return func(x dnshook.Exchange) {
		endpoint := cmp.Or(x.Endpoint, "none")
		m.requests.WithLabelValues(endpoint, fmt.Sprint(x.Status), string(x.Code)).Inc()
		m.durations.WithLabelValues(endpoint).Observe(x.Took.Seconds())
		m.operations.Add(float64(x.Size))
		level := slog.LevelInfo
		switch {
		case x.Status >= http.StatusInternalServerError:
			level = slog.LevelError
		case x.Err != nil && x.Code != dnshook.CodeRecordNotFound:
			level = slog.LevelWarn
		case x.Method == http.MethodGet:
			level = slog.LevelDebug
		}
		args := []any{"method", x.Method, "endpoint", endpoint, "status", x.Status, "took", x.Took.String()}
		if x.ID != (dnshook.ID{}) {
			args = append(args, "record", x.ID.String())
		}
		if x.Size > 0 {
			args = append(args, "operations", x.Size)
		}
		if x.Err != nil {
			args = append(args, "code", x.Code, "error", x.Err.Error())
		}
		log.Log(context.Background(), level, "request", args...)
	}
}

// Certificate is a pair of files, read again when they change.
type Certificate struct {
	CertFile, KeyFile string
	Log               *slog.Logger

	mu   sync.Mutex
	seen [2]time.Time // when the files were changed
	last *tls.Certificate
}

// Config returns what a server needs, or why the files cannot be used.
func (c *Certificate) Config() (*tls.Config, error) {
	if _, err := c.get(nil); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"http/1.1"}}, nil
}

// get returns the certificate. Files that cannot be used count as they were.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var changed [2]time.Time
	for i, file := range []string{c.CertFile, c.KeyFile} {
		var info fs.FileInfo
		info, err := os.Stat(file)
		if err != nil {
			return c.kept(err)
		}
		changed[i] = info.ModTime()
	}
	if c.last != nil && changed == c.seen {
		return c.last, nil
	}
	pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return c.kept(err)
	}
	c.last, c.seen = &pair, changed
	return c.last, nil
}

func (c *Certificate) kept(err error) (*tls.Certificate, error) {
	if c.last == nil {
		return nil, fmt.Errorf("reading the certificate: %w", err)
	}
	c.Log.Error("the certificate cannot be read again; the old one is used", "error", err)
	return c.last, nil
}
