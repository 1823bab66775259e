package bindy

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/controller/delivery"
)

func TestMain(m *testing.M) { bindytest.Main(m, "../../..") }

// A stage is one on which the whole dialect works.
type stage struct {
	*bindytest.Stage
	dns   *DNS
	known delivery.Inspection
	keeps int // ZoneRevisions of a zone
}

// start runs the dialect, as one term of leadership of an operator.
func (s *stage) start() *Controller {
	s.Helper()
	o := s.Operator(CacheOptions(s.Scheme))
	// An engine of its own for each operator.
	s.dns.Engine = delivery.NewEngine(engine.Config{Clock: s.dns.Clock, Rand: rand.Float64, Audit: time.Hour})
	b := New(Config{
		Settings: o.Settings, Client: o.Client, Live: o.Live, Cache: o.Cache, Events: o.Events, Log: o.Log, Clock: o.Clock,
		Rand: rand.Float64, Token: o.Token, DNS: s.dns, Metrics: controller.NewMetrics(), Inspection: &s.known,
		History: s.keeps,
		CatchUp: controller.CatchUp{Live: o.Live, Cached: o.Client, Cache: o.Cache, Log: o.Log},
	})
	s.Begin(o, b.Run)
	return b
}
