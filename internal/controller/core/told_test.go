package core

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// TestAVerdictIsHeardOnceEverybodyIsToldOfIt has somebody ask for a verdict while it is being told: what it would hear
// of the delivery is about the content before.
func TestAVerdictIsHeardOnceEverybodyIsToldOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := idOf("org")
		var core *Core
		told, heard := make(chan int, 1), make(chan bool, 1)
		core = New(Config{Clock: time.Now, Metrics: controller.NewMetrics(), Settled: func(Settlement) {
			go func() {
				v, ok := core.Verdict(id)
				heard <- ok && v.Accepted
			}()
			synctest.Wait()
			told <- len(heard)
		}})
		core.PutZone(zone.Zone{ID: id, Created: firstOfMay, Where: zone.Where{Name: nameOf(t, "example.org.")}, TTL: 60},
			Version{UID: "1", Generation: 1})
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go func() { _ = core.Run(ctx, func(context.Context) bool { return true }) }()
		if n := <-told; n != 0 {
			t.Error("it is heard before")
		}
		if !<-heard {
			t.Error("what is heard is not the verdict")
		}
	})
}

func TestEachVerdictHasALineInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		log := slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
		core := New(Config{Clock: time.Now, Metrics: controller.NewMetrics(), Log: log, Settled: func(Settlement) {}})
		org := zone.Where{Name: nameOf(t, "example.org.")}
		core.PutZone(zone.Zone{ID: idOf("org"), Created: firstOfMay, Where: org, TTL: 60}, Version{UID: "1", Generation: 1})
		ctx, end := context.WithCancel(t.Context())
		go func() { _ = core.Run(ctx, func(context.Context) bool { return true }) }()
		synctest.Wait()
		end()
		synctest.Wait()
		if got := lines.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "accepted=true reason=") ||
			!strings.Contains(got, idOf("org").String()) {
			t.Errorf("the log has %q", got)
		}
	})
}

var firstOfMay = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

func idOf(name string) zone.ID { return zone.ID{Kind: zone.KindZone, Namespace: "a", Name: name} }

func nameOf(t *testing.T, text string) dnsname.Name {
	t.Helper()
	name, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return name
}
