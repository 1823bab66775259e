package objects

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func at(uid types.UID, version string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: version}}
}

// write is one that is answered before the cache has it.
func (w *writes) write(o *metav1.PartialObjectMetadata) {
	w.begin(o.UID)
	w.wrote(o.UID, o)
}

func TestWhoIsBehindHearsOfItOnce(t *testing.T) {
	heard := 0
	hear := func() { heard++ }
	var behind *Behind
	var w Writer
	if w.Behind(at("a", "1")) != nil {
		t.Error("nothing was written, and an object is behind it")
	}
	w.writes.write(at("a", "9"))
	w.writes.write(at("a", "11"))
	if w.Behind(at("a", "11")) != nil || w.Behind(at("a", "12")) != nil || w.Behind(at("b", "8")) != nil {
		t.Error("what is no older, or another object, is behind")
	}
	if err := w.Behind(at("a", "10")); !errors.As(err, &behind) {
		t.Fatalf("what somebody else has written before us is not behind: %v", err)
	}
	behind.Then(hear)
	for _, step := range []struct {
		version string
		heard   int
	}{{"9", 0}, {"10", 0}, {"11", 1}, {"12", 1}} {
		if w.Saw(nil, at("a", step.version)); heard != step.heard {
			t.Errorf("when the cache has %s it was told %d times", step.version, heard)
		}
	}
	if behind.Then(hear); heard != 2 {
		t.Error("the cache has had it for long, and nobody is told")
	}
	if w.Behind(at("a", "10")) == nil {
		t.Error("what was read before our write came is not behind")
	}
}

func TestWhatTheCacheBringsBeforeTheAnswerIsNotWaitedFor(t *testing.T) {
	var w Writer
	var behind *Behind
	w.writes.begin("a")
	w.Saw(nil, at("a", "9"))
	w.writes.wrote("a", at("a", "9"))
	told := false
	if err := w.Behind(at("a", "8")); !errors.As(err, &behind) {
		t.Fatal("it is not behind")
	}
	if behind.Then(func() { told = true }); !told {
		t.Error("nobody is told")
	}
}

func TestWhatABackupHasUndoneIsNotWaitedFor(t *testing.T) {
	var w Writer
	var behind *Behind
	told := false
	w.writes.write(at("a", "9"))
	if errors.As(w.Behind(at("a", "7")), &behind) {
		behind.Then(func() { told = true })
	}
	if w.Saw(at("a", "7"), at("a", "8")); told || w.Behind(at("a", "8")) == nil {
		t.Error("our write is undone because the cache has brought an older one")
	}
	if w.Saw(at("a", "8"), at("a", "5")); !told || w.Behind(at("a", "5")) != nil {
		t.Error("the API server has come back with a backup, and what it has is behind")
	}
}

func TestAnObjectThatIsGoneIsForgotten(t *testing.T) {
	var w Writer
	var behind *Behind
	w.writes.write(at("a", "9"))
	if errors.As(w.Behind(at("a", "8")), &behind) {
		behind.Then(func() { t.Error("it is gone") })
	}
	w.Forget(at("a", "10"))
	w.Saw(nil, at("a", "11"))
	w.writes.begin("b") // it takes off the last finalizer
	w.Forget(at("b", "9"))
	w.writes.wrote("b", at("b", "9"))
	last, unlock := w.writes.Lock()
	defer unlock()
	if n := len(last.of) + len(last.after); n > 0 {
		t.Errorf("%d things are known of objects that are gone", n)
	}
}

func TestVersion(t *testing.T) {
	for text, want := range map[string]uint64{"": 0, "x": 0, "12": 12} {
		if got := Version(at("a", text)); got != want {
			t.Errorf("%q is %d", text, got)
		}
	}
}
