package main

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	"github.com/zonefold/zonefold/test/sim"
)

// mute is an API server that says which kinds there are, and of none which objects.
type mute struct {
	*sim.API
	asked chan struct{}
}

func (m mute) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/zones") {
		return m.API.RoundTrip(r)
	}
	select {
	case m.asked <- struct{}{}:
	default:
	}
	return nil, errors.New("connection refused")
}

func TestAnOperatorThatHasReadNothingEndsWhenItIsToldTo(t *testing.T) {
	o, err := parse([]string{"--health-probe-bind-address=0", "--metrics-bind-address=0", "--admission-bind-address=0"},
		func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	server, ended := mute{sim.NewAPI(kindsOf(t), time.Now), make(chan struct{}, 1)}, make(chan error, 1)
	go func() {
		ended <- operate(ctx, &rest.Config{Host: "http://203.0.113.1", Transport: server}, o,
			process{log: slog.New(slog.DiscardHandler), registry: prometheus.NewRegistry(), chance: rand.Float64})
	}()
	select {
	case <-server.asked:
	case err := <-ended:
		t.Fatalf("it has ended by itself: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("it asks for nothing")
	}
	end()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
}
