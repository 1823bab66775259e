package objects

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWrites(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*Writes) bool
		echo bool
	}{
		{"what we wrote is an echo", func(w *Writes) bool { w.Wrote(9); return w.Saw(9) }, true},
		{"what somebody wrote after us is none", func(w *Writes) bool { w.Wrote(9); return w.Saw(10) }, false},
		{"what somebody wrote right before us is none, although our write is known", func(w *Writes) bool {
			w.Wrote(9)
			return w.Saw(8)
		}, false},
		{"each of two writes is one", func(w *Writes) bool {
			w.Wrote(9)
			w.Wrote(11)
			return w.Saw(9) && !w.Saw(10) && w.Saw(11)
		}, true},
		{"an echo that came before the answer is none", func(w *Writes) bool {
			w.Saw(9)
			w.Wrote(9)
			return w.Saw(9)
		}, false},
		{"who waits for our last write hears of it", func(w *Writes) bool {
			w.Wrote(9)
			lags, came := w.Lag(8)
			return !lags || came || w.Saw(9)
		}, false},
		{"who waits for our last write hears nothing of the one before", func(w *Writes) bool {
			w.Wrote(9)
			w.Wrote(11)
			w.Lag(8)
			return w.Saw(9)
		}, true},
	} {
		var w Writes
		if got := c.do(&w); got != c.echo {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

func TestLag(t *testing.T) {
	var w Writes
	if lags, _ := w.Lag(1); lags {
		t.Error("nothing was written")
	}
	w.Wrote(9)
	w.Saw(9)
	if lags, came := w.Lag(8); !lags || !came {
		t.Errorf("a version that was read before our write came: %t, %t", lags, came)
	}
	if lags, _ := w.Lag(9); lags {
		t.Error("our own write lags behind itself")
	}
}

func TestVersion(t *testing.T) {
	for text, want := range map[string]uint64{"": 0, "x": 0, "12": 12} {
		if got := Version(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: text}}); got != want {
			t.Errorf("%q is %d", text, got)
		}
	}
}
