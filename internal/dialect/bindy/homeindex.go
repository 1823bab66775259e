package bindy

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// A hook is a label that whatever a selector selects has, as "key=value", or "" for a selector that asks for no single
// one. By hooks zones and records find each other without asking every selector about every record.
type hook string

func hookOf(key, value string) hook { return hook(key + "=" + value) }

// hooksOf are the hooks of selectors, each once.
func hooksOf(all []labels.Selector) map[hook]struct{} {
	out := map[hook]struct{}{}
	for _, s := range all {
		wants, selects := s.Requirements()
		if !selects {
			continue
		}
		on := hook("")
		for i := range wants {
			values := wants[i].ValuesUnsorted()
			if op := wants[i].Operator(); len(values) == 1 && (op == selection.In || op == selection.Equals ||
				op == selection.DoubleEquals) {
				on = hookOf(wants[i].Key(), values[0])
				break
			}
		}
		out[on] = struct{}{}
	}
	return out
}

// labelHooks are those that a record with these labels may hang on.
func labelHooks(set map[string]string) map[hook]struct{} {
	out := map[hook]struct{}{"": {}}
	for key, value := range set {
		out[hookOf(key, value)] = struct{}{}
	}
	return out
}

// enter puts something under a key.
func enter[K, T comparable](in map[K]map[T]struct{}, key K, what T) {
	if in[key] == nil {
		in[key] = map[T]struct{}{}
	}
	in[key][what] = struct{}{}
}

// leave takes something from under a key.
func leave[K, T comparable](in map[K]map[T]struct{}, key K, what T) {
	if delete(in[key], what); len(in[key]) == 0 {
		delete(in, key)
	}
}

// hanging is what hangs on any of some hooks.
func hanging[T comparable](on map[hook]map[T]struct{}, hooks map[hook]struct{}) map[T]struct{} {
	out := map[T]struct{}{}
	for h := range hooks {
		for what := range on[h] {
			out[what] = struct{}{}
		}
	}
	return out
}
