package command

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
)

// A Kind is where objects of one are asked for.
type Kind struct {
	rest.Interface
	resource string
}

// Of has a request be about the objects of a namespace, "" of all.
func (k Kind) Of(request *rest.Request, namespace string) *rest.Request {
	return request.NamespaceIfScoped(namespace, namespace != "").Resource(k.resource)
}

// pageSize is how many Zones are asked for at a time; a Zone may hold 900 KiB.
const pageSize = 50

// EachPage calls each with every page of the objects of a namespace, "" of all.
func EachPage[T any, List interface {
	*T
	runtime.Object
	metav1.ListInterface
}](ctx context.Context, k Kind, namespace string, each func(List)) error {
	for next := ""; ; {
		list := List(new(T))
		page := k.Of(k.Get(), namespace).Param("limit", strconv.Itoa(pageSize)).Param("continue", next)
		if err := page.Do(ctx).Into(list); err != nil {
			return err
		}
		each(list)
		if next = list.GetContinue(); next == "" {
			return nil
		}
	}
}

// DropFinalizer takes our finalizer off an object, which is read again if it has changed meanwhile, and reports
// whether it had
// one. On a dry run nothing is written.
func DropFinalizer[T any, Object interface {
	*T
	runtime.Object
	metav1.Object
}](ctx context.Context, k Kind, o Object, dryRun bool) (had bool, err error) {
	namespace, name := o.GetNamespace(), o.GetName()
	for slices.Contains(o.GetFinalizers(), kubizone.Finalizer) {
		if dryRun {
			return true, nil
		}
		patch, err := withoutFinalizer(o)
		if err != nil {
			return true, err
		}
		err = k.Of(k.Patch(types.MergePatchType), namespace).Name(name).Body(patch).Do(ctx).Into(o)
		if err == nil || apierrors.IsNotFound(err) {
			return true, nil
		}
		if !apierrors.IsConflict(err) {
			return true, err
		}
		var now T
		err = k.Of(k.Get(), namespace).Name(name).Do(ctx).Into(Object(&now))
		if apierrors.IsNotFound(err) {
			return true, nil
		} else if err != nil {
			return true, err
		}
		*o = now
	}
	return false, nil
}

// withoutFinalizer is the patch that takes our finalizer off this version of an object.
func withoutFinalizer(o metav1.Object) ([]byte, error) {
	others := slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == kubizone.Finalizer })
	return json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": others,
		"resourceVersion": o.GetResourceVersion()}})
}
