package objects

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// A Shape says how lists and maps of a kind are merged by server-side apply, so that what others put into an object can
// be told from what was changed in it.
type Shape struct {
	keyed  map[string][][]string // lists whose elements are found by fields, one of these choices
	sets   []string              // lists in which others may have elements
	atomic []string              // maps which are ours as a whole
}

// Builtin is the Shape of the built-in kinds that we write (the x-kubernetes-list-map-keys of their schemas). Lists
// that are not named here are atomic.
func Builtin() Shape {
	name := [][]string{{"name"}}
	return Shape{
		keyed: map[string][][]string{
			"containers": name, "initContainers": name, "env": name, "volumes": name, "imagePullSecrets": name, "secrets": name,
			"volumeMounts": {{"mountPath"}}, "volumeDevices": {{"devicePath"}},
			"ports":                     {{"containerPort", "protocol"}, {"port", "protocol"}},
			"topologySpreadConstraints": {{"topologyKey", "whenUnsatisfiable"}},
			"ownerReferences":           {{"uid"}},
		},
		sets:   []string{"finalizers"},
		atomic: []string{"selector", "matchLabels", "nodeSelector"},
	}
}

// Custom is the Shape of kinds whose specs are atomic, as in a CustomResourceDefinition that says nothing of it.
func Custom() Shape {
	return Shape{keyed: map[string][][]string{"ownerReferences": {{"uid"}}}, sets: []string{"finalizers"}}
}

// holds reports whether a live value has all that is wanted. What it has besides is others' matter, except where a list
// or map is atomic. The field is the name of what the value stands in, the parent that of what the field stands in.
func (s Shape) holds(live, want any, field, parent string) bool {
	if live == nil {
		return empty(want)
	}
	switch want := want.(type) {
	case map[string]any:
		live, ok := live.(map[string]any)
		return ok && s.holdsMap(live, want, field)
	case []any:
		live, ok := live.([]any)
		return ok && s.holdsList(live, want, field)
	}
	return live == want || sameNumber(live, want) || isQuantity(field, parent) && sameQuantity(live, want)
}

func (s Shape) holdsMap(live, want map[string]any, field string) bool {
	if slices.Contains(s.atomic, field) && len(live) != len(want) {
		return false
	}
	for k, v := range want {
		if !s.holds(live[k], v, k, field) {
			return false
		}
	}
	return true
}

func (s Shape) holdsList(live, want []any, field string) bool {
	if slices.Contains(s.sets, field) {
		return !slices.ContainsFunc(want, func(w any) bool { return !slices.Contains(live, w) })
	}
	keys, keyed := s.keyed[field]
	if keyed && !(len(want) > 0 && isMap(want[0])) {
		keyed = false
	}
	if !keyed {
		return slices.EqualFunc(live, want, func(l, w any) bool { return s.holds(l, w, "", field) })
	}
	for _, w := range want {
		at := slices.IndexFunc(live, func(l any) bool { return sameKey(l, w, keys) })
		if at < 0 || !s.holds(live[at], w, "", field) {
			return false
		}
	}
	return true
}

func isMap(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// sameKey reports whether two elements are one: all fields of the first choice that the wanted one has are equal.
func sameKey(live, want any, choices [][]string) bool {
	l, ok := live.(map[string]any)
	w, wanted := want.(map[string]any)
	if !ok || !wanted {
		return false
	}
	for _, fields := range choices {
		if w[fields[0]] == nil {
			continue
		}
		return !slices.ContainsFunc(fields, func(f string) bool { return !sameField(l, w, f) })
	}
	return false
}

func sameField(live, want map[string]any, field string) bool {
	l, w := live[field], want[field]
	if field == "protocol" { // the one key that has a default
		l, w = orTCP(l), orTCP(w)
	}
	return l == w || sameNumber(l, w)
}

func orTCP(v any) any {
	if v == nil {
		return "TCP"
	}
	return v
}

// empty reports whether a wanted value is what an absent one means.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case bool:
		return !v
	}
	return sameNumber(v, int64(0))
}

func sameNumber(a, b any) bool {
	x, ok := number(a)
	y, too := number(b)
	return ok && too && x == y
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// isQuantity reports whether a field is one that the API server writes its own way, such as 1Gi for 1024Mi.
func isQuantity(field, parent string) bool {
	return slices.Contains([]string{"limits", "requests", "capacity"}, parent) || field == "sizeLimit" ||
		field == "divisor"
}

func sameQuantity(a, b any) bool {
	x, ok := quantity(a)
	y, too := quantity(b)
	return ok && too && x.Cmp(y) == 0
}

func quantity(v any) (resource.Quantity, bool) {
	switch v := v.(type) {
	case string:
		q, err := resource.ParseQuantity(v)
		return q, err == nil
	case int64:
		return *resource.NewQuantity(v, resource.DecimalSI), true
	case float64:
		return quantity(strconv.FormatFloat(v, 'f', -1, 64))
	}
	return resource.Quantity{}, false
}
