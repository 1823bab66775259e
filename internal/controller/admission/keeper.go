package admission

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller"
)

// CacheOptions say what the cache of a Keeper holds: its objects by name, so that it may read no others.
func CacheOptions(namespace, apiService string) cache.Options {
	out := cache.Options{ByObject: map[client.Object]cache.ByObject{
		&corev1.Secret{}: {
			Namespaces: map[string]cache.Config{namespace: {}}, Field: fields.OneTermEqualSelector("metadata.name", SecretName),
		},
		&admissionregistrationv1.ValidatingWebhookConfiguration{}: {Field: fields.OneTermEqualSelector("metadata.name",
			ConfigurationName)},
	}}
	if apiService != "" {
		out.ByObject[newAPIService()] = cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", apiService)}
	}
	return out
}

// newAPIService returns an empty one; its Go type is of a module that has nothing else for us.
func newAPIService() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("apiregistration.k8s.io/v1")
	o.SetKind("APIService")
	return o
}

// A Keeper has every replica serve with the certificate in the Secret, and the one that leads keep the Secret, and what
// the API server trusts, up to date.
type Keeper struct {
	Policy
	Namespace  string
	APIService string        // that is served with the certificate too; "": none
	Client     client.Client // reads from Cache
	Cache      cache.Cache   // made with CacheOptions
	Clock      func() time.Time
	Log        *slog.Logger

	pair atomic.Pointer[tls.Certificate]
}

// Certificate is for tls.Config.GetCertificate.
func (k *Keeper) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if pair := k.pair.Load(); pair != nil {
		return pair, nil
	}
	return nil, errors.New("there is no certificate for admission yet")
}

// Follow has this replica serve with whatever certificate the Secret holds, from now on.
func (k *Keeper) Follow(ctx context.Context) error {
	return k.on(ctx, &corev1.Secret{}, func(o any) {
		secret, ok := o.(*corev1.Secret)
		if !ok {
			return
		}
		pair, err := tls.X509KeyPair(secret.Data[keyCertificate], secret.Data[keyPrivate])
		if err != nil { // the one before is as good as it was
			k.Log.Warn("the certificate for admission cannot be used", "secret", SecretName, "error", err)
			return
		}
		k.pair.Store(&pair)
	})
}

// Run keeps the Secret and the configuration up to date until ctx ends. Only the replica that leads runs it.
func (k *Keeper) Run(ctx context.Context) error {
	news := make(chan struct{}, 1)
	wake := func(any) {
		select {
		case news <- struct{}{}:
		default:
		}
	}
	followed := []client.Object{&corev1.Secret{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}}
	if k.APIService != "" {
		followed = append(followed, newAPIService())
	}
	for _, o := range followed {
		if err := k.on(ctx, o, wake); err != nil {
			return err
		}
	}
	for {
		pause, err := k.keep(ctx)
		if err != nil && ctx.Err() == nil {
			if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) { // the cache lags behind, and wakes us soon
				k.Log.Error("the certificate for admission is not up to date; the operator tries again later", "error", err)
			}
			pause = 10 * time.Second
		}
		select {
		case <-ctx.Done():
			return nil
		case <-news:
		case <-time.After(pause):
		}
	}
}

// keep does what there is to do, and says how long there will be nothing.
func (k *Keeper) keep(ctx context.Context) (time.Duration, error) {
	var secret corev1.Secret
	err := k.Client.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: SecretName}, &secret)
	if client.IgnoreNotFound(err) != nil {
		return 0, fmt.Errorf("reading the Secret %s/%s: %w", k.Namespace, SecretName, err)
	}
	now := k.Clock()
	data, again, advanceErr := k.Advance(secret.Data, now)
	if advanceErr != nil {
		return 0, advanceErr
	}
	if err != nil || !reflect.DeepEqual(data, secret.Data) {
		if err := k.store(ctx, &secret, data); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(k.trust(ctx, data[keyTrusted]), k.trustAPIService(ctx, data[keyTrusted])); err != nil {
		return 0, err
	}
	return again.Sub(now), nil
}

func (k *Keeper) store(ctx context.Context, secret *corev1.Secret, data map[string][]byte) error {
	secret.Data = data
	var err error
	if secret.ResourceVersion == "" {
		secret.ObjectMeta = metav1.ObjectMeta{Namespace: k.Namespace, Name: SecretName}
		err = k.Client.Create(ctx, secret)
	} else {
		err = k.Client.Update(ctx, secret)
	}
	if err != nil {
		return fmt.Errorf("writing the certificates into the Secret %s/%s: %w", k.Namespace, SecretName, err)
	}
	return nil
}

// trust tells the API server which certificates to trust. Where nobody installed the configuration there is nobody to
// tell.
func (k *Keeper) trust(ctx context.Context, bundle []byte) error {
	var c admissionregistrationv1.ValidatingWebhookConfiguration
	err := k.Client.Get(ctx, client.ObjectKey{Name: ConfigurationName}, &c)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the ValidatingWebhookConfiguration %s: %w", ConfigurationName, err)
	}
	before, changed := c.DeepCopy(), false
	for i := range c.Webhooks {
		if at := &c.Webhooks[i].ClientConfig; !bytes.Equal(at.CABundle, bundle) {
			at.CABundle, changed = bundle, true
		}
	}
	if !changed {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := k.Client.Patch(ctx, &c, patch); err != nil {
		return fmt.Errorf("writing the certificates into the ValidatingWebhookConfiguration %s: %w", ConfigurationName, err)
	}
	return nil
}

// trustAPIService is trust for who asks the API server for the group that is served with the certificate.
func (k *Keeper) trustAPIService(ctx context.Context, bundle []byte) error {
	if k.APIService == "" {
		return nil
	}
	service, text := newAPIService(), base64.StdEncoding.EncodeToString(bundle)
	err := k.Client.Get(ctx, client.ObjectKey{Name: k.APIService}, service)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the APIService %s: %w", k.APIService, err)
	}
	before := service.DeepCopy()
	if was, _, err := unstructured.NestedString(service.Object, "spec", "caBundle"); err == nil && was == text {
		return nil
	}
	if err := unstructured.SetNestedField(service.Object, text, "spec", "caBundle"); err != nil {
		return fmt.Errorf("reading the APIService %s: %w", k.APIService, err)
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := k.Client.Patch(ctx, service, patch); err != nil {
		return fmt.Errorf("writing the certificates into the APIService %s: %w", k.APIService, err)
	}
	return nil
}

// on calls look for an object that is there, and whenever it changes.
func (k *Keeper) on(ctx context.Context, o client.Object, look func(any)) error {
	_, err := controller.Follow(ctx, k.Cache, nil, o, toolscache.ResourceEventHandlerFuncs{
		AddFunc: look, UpdateFunc: func(_, o any) { look(o) }, DeleteFunc: look,
	})
	return err
}
