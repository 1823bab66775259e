package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// namespaceList is a flag with namespaces, separated by commas. An empty list would not restrict anything.
type namespaceList []string

func (l *namespaceList) String() string { return strings.Join(*l, ",") }

// Set implements flag.Value.
func (l *namespaceList) Set(text string) error {
	*l = listed(text)
	if len(*l) == 0 {
		return errors.New("it names no namespace; without the flag, all are meant")
	}
	return nil
}

// byNamespace has a cache watch Secrets in the namespaces only; without any, in all.
func (l namespaceList) byNamespace(o *cache.Options) {
	if len(l) == 0 {
		return
	}
	namespaces := map[string]cache.Config{}
	for _, name := range l {
		namespaces[name] = cache.Config{}
	}
	if o.ByObject == nil {
		o.ByObject = map[client.Object]cache.ByObject{}
	}
	o.ByObject[&corev1.Secret{}] = cache.ByObject{Namespaces: namespaces}
}

// A secretsReader reads no Secrets of other namespaces than those that the operator was given: it has no right to them,
// and the API server would not say which setting is to be changed.
type secretsReader struct {
	client.Reader
	client     client.Client // of the scheme
	namespaces map[string]bool
}

// reader restricts what a dialect reads at the API server.
func (l namespaceList) reader(of client.Reader, c client.Client) client.Reader {
	if len(l) == 0 {
		return of
	}
	r := secretsReader{Reader: of, client: c, namespaces: map[string]bool{}}
	for _, name := range l {
		r.namespaces[name] = true
	}
	return r
}

// A secretsClient is a client with such a reader.
type secretsClient struct {
	client.Client
	reads client.Reader
}

func (l namespaceList) restrict(c client.Client) client.Client {
	if len(l) == 0 {
		return c
	}
	return secretsClient{c, l.reader(c, c)}
}

func (c secretsClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return c.reads.Get(ctx, key, o, opts...)
}

func (c secretsClient) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return c.reads.List(ctx, l, opts...)
}

func (r secretsReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	gvk, err := r.client.GroupVersionKindFor(o)
	if err != nil {
		return err
	}
	if gvk.Group == "" && gvk.Kind == "Secret" && !r.namespaces[key.Namespace] {
		return outside(key.Namespace, key.Name)
	}
	return r.Reader.Get(ctx, key, o, opts...)
}

func (r secretsReader) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	gvk, err := r.client.GroupVersionKindFor(l)
	if err != nil {
		return err
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	if gvk.Group == "" && gvk.Kind == "SecretList" && o.Namespace != "" && !r.namespaces[o.Namespace] {
		return outside(o.Namespace, "")
	}
	return r.Reader.List(ctx, l, opts...)
}

// outside is what the API server would say, with the way out.
func outside(namespace, name string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, name, fmt.Errorf(
		"the operator has no right to Secrets of the namespace %s; add it to --secrets-namespaces (secretsNamespaces "+
			"of the chart)", namespace))
}
