package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// usage is what the operator has used, and done to others, since they started.
type usage struct {
	cpu      map[string]time.Duration // of every program that takes part
	rss      int64                    // octets, now
	peak     int64                    // octets
	updates  int                      // UPDATE messages, by BIND's count
	batches  float64                  // by the operator's
	sets     float64                  // changed
	readings float64                  // of zones
	settles  float64                  // steps of the World
	writes   map[string]float64       // to the API server by its own count, by verb and resource, ours among them
}

func (b *bench) usage(ctx context.Context) (u usage, err error) {
	if u.cpu, err = figures.CPUTimes(); err != nil {
		return u, err
	}
	if u.rss, u.peak, err = figures.MemoryOf(b.Operator.PID()); err != nil {
		return u, err
	}
	if u.updates, err = b.bind.Updates(ctx); err != nil {
		return u, err
	}
	m, err := b.Operator.Metrics("zonefold_")
	if err != nil {
		return u, err
	}
	u.batches = figures.Sum(m, "zonefold_backend_apply_seconds_count")
	u.sets = figures.Sum(m, "zonefold_backend_changed_sets_total")
	u.readings = figures.Sum(m, "zonefold_backend_read_seconds_count")
	u.settles = figures.Sum(m, "zonefold_settle_seconds_count")
	u.writes, err = b.writes(ctx)
	return u, err
}

// since leaves what happened after before; memory stays what it is now.
func (u usage) since(before usage) usage {
	u.cpu = figures.Less(u.cpu, before.cpu)
	u.updates -= before.updates
	u.batches -= before.batches
	u.sets -= before.sets
	u.readings -= before.readings
	u.settles -= before.settles
	u.writes = figures.Less(u.writes, before.writes)
	return u
}

// operatorsWrites counts the writes that are not the bench's own: it creates, patches and deletes Records, and the
// operator only applies labels to them and patches their status.
func (u usage) operatorsWrites() float64 {
	n := 0.0
	for what, count := range u.writes {
		if what != "POST records" {
			n += count
		}
	}
	return n
}

func (b *bench) operatorWrites() (float64, error) {
	m, err := b.Operator.Metrics("zonefold_api_writes_total")
	return figures.Sum(m, "zonefold_api_writes_total"), err
}

// writes counts the API server's requests that write, whatever became of them. Leases are the pulse of leader election.
func (b *bench) writes(ctx context.Context) (map[string]float64, error) {
	text, err := b.Cluster.RunKubectl(ctx, "get", "--raw", "/metrics")
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if !strings.HasPrefix(line, "apiserver_request_total{") {
			continue
		}
		labels := figures.Labels(line)
		switch labels["verb"] {
		case "POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION":
		default:
			continue
		}
		if labels["resource"] == "leases" || labels["group"] == "authorization.k8s.io" {
			continue
		}
		what := labels["verb"] + " " + labels["resource"]
		if labels["subresource"] != "" {
			what += "/" + labels["subresource"]
		}
		if code := labels["code"]; !strings.HasPrefix(code, "2") {
			what += " (" + code + ")"
		}
		n, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("reading the metrics of the API server: %w", err)
		}
		out[what] += n
	}
	return out, nil
}
