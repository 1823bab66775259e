package bindy

import (
	"reflect"
	"strings"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/inspect"
	"github.com/zonefold/zonefold/internal/zone"
)

// Resources are the kinds of this dialect that can be inspected.
func Resources(i *delivery.Inspection) []inspect.Resource {
	out := []inspect.Resource{inspectable(v1beta1.KindZone, i)}
	for _, kind := range RecordKinds() {
		out = append(out, inspectable(reflect.TypeOf(kind).Elem().Name(), i))
	}
	return out
}

func inspectable(kind string, i *delivery.Inspection) inspect.Resource {
	return inspect.Resource{Group: v1beta1.GroupVersion.Group, Plural: strings.ToLower(kind) + "s", Inspection: i,
		ID: func(namespace, name string) zone.ID { return zone.ID{Kind: kind, Namespace: namespace, Name: name} }}
}
