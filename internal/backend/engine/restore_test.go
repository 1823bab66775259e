package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/rr"
)

// replace has an empty server come in the place of the one that there is, after a while without any.
func (z *heldZone) replace(name string, meanwhile func()) {
	z.engine.Detach(target(z.name, zoneName), "b")
	z.pass(time.Minute)
	meanwhile()
	p := bindLike
	p.Limits.Creates, p.Limits.Removes, p.Limits.Followed = true, true, true
	z.memory = backendtest.NewMemory(p)
	z.server = &spy{Backend: z.memory.Client(true)}
	z.name, z.a.Backend = name, z.server
	z.change(func(*engine.Attachment) {})
}

func nothing() {}

// fleet is a zone on a server that may be replaced.
func fleet(t *testing.T) *heldZone {
	p := bindLike
	p.Limits.Creates, p.Limits.Removes, p.Limits.Followed = true, true, true
	z := holdZone(t, p, limits)
	z.change(func(a *engine.Attachment) { a.Restore = true })
	return z
}

func (z *heldZone) withdraw() {
	z.a.Withdraw = true
	z.change(func(*engine.Attachment) {})
}

func TestWhatIsHeldComesBackAtAReplacedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := fleet(t)
		z.want(hosts(0, 100)...)
		z.want(hosts(50, 100)...)
		z.are("when half of it is deleted", "100", 50)
		plan := z.last("b").Held.Plan
		z.replace("s2", nothing)
		z.are("at a new server", "100", 50)
		if now := z.last("b").Held; now == nil || now.Plan != plan {
			t.Errorf("the plan is %v there, and was %s", now, plan)
		}
		z.replace("s3", func() { z.want(append(hosts(20, 100), set("new.example.org.", rr.TypeTXT, 300, `"x"`))...) })
		z.are("when some came back meanwhile", "100, new TXT", 20)
		z.change(func(a *engine.Attachment) { a.Approved = []string{z.last("b").Held.Plan} })
		z.are("when the rest is approved", "80, new TXT", 0)
		z.replace("s4", nothing)
		z.are("at a new server after that", "80, new TXT", 0)
	})
}

func TestAHeldZoneComesBackAtAReplacedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := fleet(t)
		z.want(hosts(0, 100)...)
		z.want(hosts(50, 100)...) // its Records go first
		z.withdraw()
		z.are("when it is deleted", "100", 100)
		z.replace("s2", nothing)
		z.are("at a new server", "100", 100)
		z.replace("s3", func() { z.a.Approved = []string{z.last("b").Held.Plan} })
		if z.has() != "no zone" || !z.last("b").Withdrawn {
			t.Errorf("it was approved, and the server has %s: %+v", z.has(), z.last("b"))
		}
		if n := z.memory.History(mustParse(zoneName)); len(n) > 0 {
			t.Errorf("the server had contents %v", n)
		}
	})
}

func TestAZoneThatIsDeletedWhileItHasNoServer(t *testing.T) {
	for _, c := range []struct {
		name  string
		hosts int
		has   string
	}{
		{"is held if it is too much to go", 50, "50"},
		{"goes if it is not", 5, "no zone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				z := fleet(t)
				z.want(hosts(0, c.hosts)...)
				z.replace("s2", func() { z.a.Withdraw = true })
				if z.has() != c.has || z.last("b").Withdrawn != (c.has == "no zone") {
					t.Errorf("the server has %s, want %s: %+v", z.has(), c.has, z.last("b"))
				}
			})
		})
	}
}

func TestWhatNoServerHadIsNotRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := fleet(t)
		z.engine.Detach(target(z.name, zoneName), "b")
		z.want(hosts(0, 50)...)
		z.replace("s2", func() { z.a.Withdraw = true })
		if z.has() != "no zone" || !z.last("b").Withdrawn {
			t.Errorf("the server has %s: %+v", z.has(), z.last("b"))
		}
	})
}

func TestWhatIsHeldComesBackAtTheSameServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := fleet(t)
		z.want(hosts(0, 100)...)
		z.withdraw()
		z.memory.Lose(mustParse(zoneName), backendtest.Copy{})
		z.engine.Audit(target(z.name, zoneName))
		z.pass(time.Minute)
		z.are("when the server has lost it", "100", 100)
	})
}
