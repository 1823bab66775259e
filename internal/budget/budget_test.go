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
		{"many empty strings", "[" + strings.Repeat(`"",`, 1_000_000) + `""]`, NewPool(64 << 20), 16 << 20, "octets of memory"},
		{"many lists in each other", strings.Repeat("[", 100_000), NewPool(32 << 20), 1 << 20, "octets of memory"},
		{"as many where nothing is said", "[" + strings.Repeat("{},", 100_000) + "{}]", nil, 1 << 20, ""},
	} {
		m := c.pool.Begin(c.octets)
		_, err := io.Copy(io.Discard, m.JSON(strings.NewReader(c.text)))
		m.End()
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestWhatAllReadingsMayCost(t *testing.T) {
	p := NewPool(64 << 20)
	var under []*Meter
	for range 2 {
		m := p.Begin(1 << 30)
		if err := m.Take(0, p.Each()); err != nil {
			t.Fatal(err)
		}
		under = append(under, m)
	}
	small, large := p.Begin(1<<30), p.Begin(1<<30)
	if err := small.Take(0, Free); err != nil {
		t.Errorf("a short answer beside large ones: %v", err)
	}
	var e *Error
	if err := large.Take(0, 8<<20); !errors.As(err, &e) || !e.Shared {
		t.Errorf("a third large one: %v", err)
	}
	large.End()
	under[0].End()
	if err := large.Take(0, 8<<20); err != nil {
		t.Errorf("when one of the others is over: %v", err)
	}
	for _, m := range append(under, small, large) {
		m.End()
	}
	if n := p.used.Load(); n != 0 {
		t.Errorf("after all %d octets are drawn", n)
	}
}
