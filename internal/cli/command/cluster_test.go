package command

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// TestWhetherAnOperatorRunsTheClockOfTheAPIServerTells has a Lease that was renewed at noon, for 15 seconds.
func TestWhetherAnOperatorRunsTheClockOfTheAPIServerTells(t *testing.T) {
	noon := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name         string
		server, here time.Duration // after noon; below 0: it does not say the time
		runs         bool
	}{
		{"both clocks are right", time.Second, time.Second, true},
		{"the clock here is fast", time.Second, time.Hour, true},
		{"the clock here is slow", time.Hour, time.Second, false},
		{"the API server does not say the time", -1, time.Second, true},
		{"nor does it when the operator is gone", -1, time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Date"] = nil
				if c.server >= 0 {
					w.Header().Set("Date", noon.Add(c.server).Format(http.TimeFormat))
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"apiVersion": "coordination.k8s.io/v1", "kind": "LeaseList", "items": [{"spec":
					{"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": "2026-08-01T12:00:00.000000Z"}}]}`)
			}))
			defer server.Close()
			flags := ClusterFlags{Given: &rest.Config{Host: server.URL}}
			cluster, _, err := flags.Connect(Env{})
			if err != nil {
				t.Fatal(err)
			}
			err = OperatorGone(t.Context(), cluster, noon.Add(c.here))
			if _, runs := errors.AsType[*OperatorRunsError](err); runs != c.runs || err != nil && !runs {
				t.Errorf("it says %v", err)
			}
		})
	}
}

// TestNobodyWaitsForAClientThatCountsItsRequests: a cluster may have 10,000 Zones, and a request each.
func TestNobodyWaitsForAClientThatCountsItsRequests(t *testing.T) {
	flags := ClusterFlags{Given: &rest.Config{Host: "http://127.0.0.1:1"}}
	cluster, _, err := flags.Connect(Env{})
	if err != nil {
		t.Fatal(err)
	}
	for name, client := range map[string]rest.Interface{"Zones": cluster.zones, "ZoneSlices": cluster.slices,
		"DNSZones": cluster.bindy, "Leases": cluster.leases} {
		if client.GetRateLimiter() != nil {
			t.Errorf("requests about %s wait for each other", name)
		}
	}
}
