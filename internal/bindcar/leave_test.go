package bindcar

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestAServerThatIsEndedSaysSoBeforeItGoes has everybody hear of it while it still answers.
func TestAServerThatIsEndedSaysSoBeforeItGoes(t *testing.T) {
	f := newFixture(t, func(s *Settings) { s.LeaveFor = 2 * time.Second })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.url = "http://" + l.Addr().String()
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.server.Serve(ctx, l) }()
	if ready, text := f.ready(); !ready {
		t.Fatalf("it is not ready: %s", text)
	}
	end()
	until(t, "saying that it is not ready", func() bool { ready, _ := f.ready(); return !ready })
	if status, text := f.call("GET", "/api/v1/zones", ""); status != http.StatusOK {
		t.Errorf("it answers %d %s while it is being ended", status, text)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it is still there")
	}
}
