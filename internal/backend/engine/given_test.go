package engine

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
)

func named(t *testing.T, text string) dnsname.Name {
	t.Helper()
	name, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

type anyCeiling struct{}

func (anyCeiling) Raise(context.Context, string, uint32) error { return nil }

// TestFeedsOfOneZoneNameDoNotGiveOneSerialTwice has a zone be one feed's after another's, and two feeds' at once.
func TestFeedsOfOneZoneNameDoNotGiveOneSerialTwice(t *testing.T) {
	const today = 2000010100 // in a bubble
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{Ceilings: anyCeiling{}, Clock: backend.SystemClock{}, Rand: func() float64 { return 0 }})
		defer e.Stop(t.Context())
		fresh := func(f *Feed) uint32 {
			t.Helper()
			serial, err := f.fresh(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return serial
		}
		first := e.NewFeed(FeedConfig{ID: "first", Zone: named(t, "example.org.")})
		first.fresh(t.Context())
		second := e.NewFeed(FeedConfig{ID: "second", Zone: named(t, "example.org.")})
		other := e.NewFeed(FeedConfig{ID: "other", Zone: named(t, "example.net.")})
		for _, c := range []struct {
			name string
			of   *Feed
			want uint32
		}{
			{"the second begins above the first", second, today + 1}, {"the first goes on above the second", first, today + 2},
			{"a zone of another name has serials of its own", other, today},
		} {
			if got := fresh(c.of); got != c.want {
				t.Errorf("%s: %d, want %d", c.name, got, c.want)
			}
		}
		first.End()
		first.End()
		second.End()
		if got := fresh(e.NewFeed(FeedConfig{ID: "third", Zone: named(t, "example.org.")})); got != today+3 {
			t.Errorf("one that comes when all others have ended begins with %d", got)
		}
		if got := fresh(e.NewFeed(FeedConfig{ID: "stored", Zone: named(t, "example.org."), Serial: 2000010105,
			Ceiling: 2000010120})); got != today+21 {
			t.Errorf("one that an earlier run had goes on with %d", got)
		}
	})
}

// TestALaterSerialOfAnotherFeedIsNotGivenBack: when that feed has ended, nothing else tells that it was used.
func TestALaterSerialOfAnotherFeedIsNotGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{Ceilings: anyCeiling{}, Clock: backend.SystemClock{}, Rand: func() float64 { return 0 }})
		defer e.Stop(t.Context())
		stays := e.NewFeed(FeedConfig{ID: "stays", Zone: named(t, "example.org.")})
		goes := e.NewFeed(FeedConfig{ID: "goes", Zone: named(t, "example.org.")})
		publish := func(hash string) {
			t.Helper()
			stays.Publish(Content{Hash: hash}, nil)
			if _, err := stays.Mint(t.Context()); err != nil {
				t.Fatal(err)
			}
			if stays.Exceeded() {
				t.Errorf("no serial was given after that of the content %s", hash)
			}
		}
		publish("one")
		if _, err := goes.fresh(t.Context()); err != nil { // it is withdrawn
			t.Fatal(err)
		}
		if !stays.Exceeded() {
			t.Error("the serial of the other feed is not seen")
		}
		publish("another")
	})
}

// TestSerialsOfZonesThatAreGoneAreForgotten the day after, when a new zone begins above them without that.
func TestSerialsOfZonesThatAreGoneAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{Ceilings: anyCeiling{}, Clock: backend.SystemClock{}, Rand: func() float64 { return 0 }})
		defer e.Stop(t.Context())
		for i := range 1000 {
			f := e.NewFeed(FeedConfig{ID: fmt.Sprint(i), Zone: named(t, fmt.Sprintf("z%d.example.", i))})
			f.fresh(t.Context())
			if i > 0 {
				f.End()
			}
			<-time.After(time.Hour)
		}
		s, unlock := e.scheduler.Lock()
		defer unlock()
		if n := len(s.serials.given); n > 100 {
			t.Errorf("%d names are kept", n)
		}
		if s.serials.given[named(t, "z0.example.")] == nil {
			t.Error("the zone that is still there is forgotten")
		}
	})
}
