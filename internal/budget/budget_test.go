package budget

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestWhatOneReadingMayCost(t *testing.T) {
	for _, c := range []struct {
		name, text string
		pool       *Pool
		octets     int64
		want       string
	}{
		{"a short answer", `{"a":1}`, NewPool(1 << 20), 100, ""},
		{"an answer that is as long as it may be", strings.Repeat("x", 100), nil, 100, ""},
		{"an answer that is longer", strings.Repeat("x", 101), nil, 100, "more than 100 octets"},
		{"many empty objects", "[" + strings.Repeat("{},", 100_000) + "{}]", NewPool(32 << 20), 1 << 20, "octets of memory"},
		{"many empty strings", "[" + strings.Repeat(`"",`, 1_000_000) + `""]`, NewPool(32 << 20), 16 << 20,
			"octets of memory"},
		{"many lists in each other", strings.Repeat("[", 100_000), NewPool(16 << 20), 1 << 20, "octets of memory"},
		{"as many where nothing is said", "[" + strings.Repeat("{},", 100_000) + "{}]", nil, 1 << 20, ""},
	} {
		m := c.pool.Begin(c.octets, func() {})
		_, err := io.Copy(io.Discard, m.JSON(strings.NewReader(c.text)))
		m.End()
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestTheLargestReadingGivesWay(t *testing.T) {
	p := NewPool(64 << 20)
	ended := make(chan string, 3)
	begin := func(name string, memory int64) *Meter {
		t.Helper()
		m := p.Begin(1<<30, func() { ended <- name })
		if err := m.Take(0, memory); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return m
	}
	first, second := begin("first", 32<<20), begin("second", 31<<20)
	small := begin("small", 8<<20) // two that stall do not keep it waiting
	if got := <-ended; got != "first" {
		t.Errorf("the reading that gives way is %s", got)
	}
	var e *Error
	if err := first.Take(0, 1); !errors.As(err, &e) || !e.Shared {
		t.Errorf("one that gave way goes on: %v", err)
	}
	if err := second.Take(0, 1); err != nil {
		t.Errorf("another one gave way too: %v", err)
	}
	large := p.Begin(1<<30, func() {})
	if err := large.Take(0, 32<<20); !errors.As(err, &e) || !e.Shared {
		t.Errorf("the largest one takes what others have: %v", err)
	}
	for _, m := range []*Meter{first, second, small, large} {
		m.End()
		m.End()
	}
	d, unlock := p.state.Lock()
	defer unlock()
	if d.used != 0 || len(d.by) != 0 {
		t.Errorf("after all %d octets are held", d.used)
	}
}
