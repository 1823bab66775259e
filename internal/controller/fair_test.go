package controller

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zonefold/zonefold/internal/zone"
)

func TestNamespacesTakeTurns(t *testing.T) {
	f := newFair()
	for _, name := range []string{"a/1", "a/2", "a/3", "a/4", "b/1", "c/1", "c/2"} {
		f.Push(zone.ID{Namespace: name[:1], Name: name[2:]})
	}
	var got []string
	pop := func() {
		id := f.Pop()
		got = append(got, id.Namespace+"/"+id.Name)
	}
	pop()
	pop()
	f.Push(zone.ID{Namespace: "b", Name: "2"}) // has had its turn
	for f.Len() > 0 {
		pop()
	}
	if want := []string{"a/1", "b/1", "c/1", "a/2", "b/2", "c/2", "a/3", "a/4"}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
	if len(f.waiting) != 0 || len(f.turns) != 0 {
		t.Errorf("%v and %v are left", f.waiting, f.turns)
	}
}

func BenchmarkFair(b *testing.B) {
	f := newFair()
	for i := range 100_000 {
		f.Push(zone.ID{Namespace: fmt.Sprint(i % 1000), Name: fmt.Sprint(i)})
	}
	b.ReportAllocs()
	for b.Loop() {
		f.Push(f.Pop())
	}
}
