package homelab

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
)

// A reach is what the server of a class is reached with.
type reach struct {
	class  string
	url    string
	wait   time.Duration // 0: the protocol's own
	key    *dnshook.Key  // nil: nothing is signed
	bundle []byte        // PEM; nil: the system's authorities
	rdata  bool          // numbers are in front of the values
}

// reachOf reads the Secrets that a class names.
func reachOf(ctx context.Context, live client.Reader, o *v1alpha1.DNSClass) (reach, error) {
	r := reach{class: o.Name, url: o.Spec.Server, rdata: inRDATA(o)}
	if s := o.Spec.TimeoutSeconds; s != nil {
		r.wait = time.Duration(*s) * time.Second
	}
	var err error
	if r.key, err = keyFor(ctx, live, o); err != nil {
		return reach{}, err
	}
	if ref := o.Spec.CABundleRef; ref != nil {
		name := ref.Key
		if name == "" {
			name = "ca.crt"
		}
		if r.bundle, err = secretOf(ctx, live, o, v1alpha1.SecretRef{Name: ref.Name, Namespace: ref.Namespace,
			Key: name}); err != nil {
			return reach{}, err
		}
		if !x509.NewCertPool().AppendCertsFromPEM(r.bundle) {
			return reach{}, &errClass{fmt.Sprintf(
				"DNSClass %s: the key %s of the Secret %s/%s holds no certificate in PEM; correct it.", o.Name, name, ref.Namespace,
				ref.Name)}
		}
	}
	return r, nil
}

func inRDATA(o *v1alpha1.DNSClass) bool { return o.Spec.NumbersIn == v1alpha1.NumbersInValues }

// dial makes a client; nothing is sent. Without a transport it has one of its own.
func (r reach) dial(now func() time.Time, transport http.RoundTripper) (*dnshook.Client, error) {
	cfg := dnshook.ClientConfig{Server: r.url, Timeout: r.wait, Now: now, Transport: transport, Inject: backend.Inject,
		CABundle: r.bundle, InRDATA: r.rdata}
	if r.key != nil {
		cfg.Keys = func() (dnshook.Key, error) { return *r.key, nil }
	}
	hook, err := dnshook.NewClient(cfg)
	if err != nil {
		return nil, &errClass{fmt.Sprintf("DNSClass %s: %v; correct spec.server.", r.class, err)}
	}
	return hook, nil
}

// keyFor returns what requests of a class are signed with; nil: they are not.
func keyFor(ctx context.Context, live client.Reader, o *v1alpha1.DNSClass) (*dnshook.Key, error) {
	auth := o.Spec.HMACAuth
	if auth == nil {
		return nil, nil
	}
	key := dnshook.Key{Secret: []byte(auth.Secret), Algorithm: dnshook.Algorithm(auth.Algorithm)}
	switch {
	case auth.SecretRef != nil && auth.Secret != "" || auth.SecretRef == nil && auth.Secret == "":
		return nil, &errClass{fmt.Sprintf("DNSClass %s: spec.hmacAuth has to have either secretRef or secret.", o.Name)}
	case auth.SecretRef != nil:
		var err error
		if key.Secret, err = secretOf(ctx, live, o, *auth.SecretRef); err != nil {
			return nil, err
		}
	}
	if err := key.Validate(); err != nil {
		where := "spec.hmacAuth"
		if ref := auth.SecretRef; ref != nil {
			where = fmt.Sprintf("the key %s of the Secret %s/%s, in spec.hmacAuth", ref.Key, ref.Namespace, ref.Name)
		}
		return nil, &errClass{fmt.Sprintf("DNSClass %s, %s: %v.", o.Name, where, err)}
	}
	return &key, nil
}

func secretOf(ctx context.Context, live client.Reader, o *v1alpha1.DNSClass, ref v1alpha1.SecretRef) ([]byte, error) {
	var s corev1.Secret
	err := live.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &s)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &errSecret{text: fmt.Sprintf("DNSClass %s names the Secret %s/%s, which does not exist; create it.",
			o.Name, ref.Namespace, ref.Name)}
	case apierrors.IsForbidden(err):
		return nil, &errSecret{silent: true, text: fmt.Sprintf("DNSClass %s names the Secret %s/%s, which the operator may "+
			"not read (%v); grant its ServiceAccount the right to get it.",
			o.Name, ref.Namespace, ref.Name, err)}
	case err != nil:
		return nil, fmt.Errorf("reading the Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	value, ok := s.Data[ref.Key]
	if !ok || len(value) == 0 {
		return nil, &errSecret{text: fmt.Sprintf(
			"DNSClass %s names the key %s of the Secret %s/%s, which it does not have; add it.", o.Name, ref.Key, ref.Namespace,
			ref.Name)}
	}
	return value, nil
}
