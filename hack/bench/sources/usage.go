package main

import (
	"context"
	"strings"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// usage is what all programs have used, and done to each other, since they started.
type usage struct {
	at      time.Time
	cpu     map[string]time.Duration
	calls   map[string]float64 // to the API server, by verb and resource, ours among them
	updates int                // UPDATE messages, by BIND's count
}

func (b *bench) usage(ctx context.Context) (u usage, err error) {
	u.at = time.Now()
	if u.cpu, err = figures.CPUTimes(); err != nil {
		return u, err
	}
	if u.updates, err = b.bind.Updates(ctx); err != nil {
		return u, err
	}
	text, err := b.Cluster.RunKubectl(ctx, "get", "--raw", "/metrics")
	if err != nil {
		return u, err
	}
	u.calls = calls(text)
	return u, nil
}

// calls counts the requests in metrics of the API server. A watch counts while it is open, so what the API server
// watches itself and renews now and then makes no difference.
func calls(metrics string) map[string]float64 {
	out := map[string]float64{}
	for sample, n := range figures.Samples(metrics) {
		labels := figures.Labels(sample)
		metric, _, _ := strings.Cut(sample, "{")
		watch := labels["verb"] == "WATCH"
		switch {
		case labels["resource"] == "":
			continue
		case metric == "apiserver_request_total" && !watch, metric == "apiserver_longrunning_requests" && watch:
		default:
			continue
		}
		what := labels["verb"] + " " + labels["resource"]
		if labels["subresource"] != "" {
			what += "/" + labels["subresource"]
		}
		out[what] += n
	}
	return out
}

// spent is usage in a while.
type spent struct {
	took    time.Duration
	cpu     map[string]time.Duration
	calls   map[string]float64
	updates int
}

func (b *bench) since(ctx context.Context, before usage) (spent, error) {
	now, err := b.usage(ctx)
	return spent{now.at.Sub(before.at), figures.Less(now.cpu, before.cpu), figures.Less(now.calls, before.calls),
		now.updates - before.updates}, err
}

// minute is what a program used in a minute of it.
func (s spent) minute(program string) time.Duration {
	return time.Duration(float64(s.cpu[program]) * float64(time.Minute) / float64(s.took))
}
