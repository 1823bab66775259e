package testoperator

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Watch reads a list and follows its objects from there on. A watch that names no version waits for the server's cache,
// and says only in its first event that the cache took too long.
func Watch(ctx context.Context, c client.WithWatch, list client.ObjectList,
	of ...client.ListOption) (watch.Interface, error) {
	if err := c.List(ctx, list, of...); err != nil {
		return nil, fmt.Errorf("list what to watch: %w", err)
	}
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
	return c.Watch(ctx, list, append(of, from)...)
}
