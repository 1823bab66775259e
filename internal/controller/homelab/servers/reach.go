package servers

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
)

// A Reach is what the server of a class is reached with.
type Reach struct {
	class  string
	url    string
	wait   time.Duration       // 0: the protocol's own
	key    *dnshook.Key        // nil: nothing is signed
	ref    *v1alpha1.SecretRef // where it is from; nil: from no Secret
	bundle []byte              // PEM; nil: the system's authorities
	rdata  bool                // numbers are in front of the values
}

// ReachOf reads the Secrets that a class names.
func ReachOf(ctx context.Context, live client.Reader, o *v1alpha1.DNSClass) (Reach, error) {
	r := Reach{class: o.Name, url: o.Spec.Server, rdata: InRDATA(o)}
	if s := o.Spec.TimeoutSeconds; s != nil {
		r.wait = time.Duration(*s) * time.Second
	}
	var err error
	if r.key, err = keyFor(ctx, live, o); err != nil {
		return Reach{}, err
	}
	if auth := o.Spec.HMACAuth; auth != nil {
		r.ref = auth.SecretRef
	}
	if ref := o.Spec.CABundleRef; ref != nil {
		name := ref.Key
		if name == "" {
			name = "ca.crt"
		}
		if r.bundle, err = secretOf(ctx, live, o, v1alpha1.SecretRef{Name: ref.Name, Namespace: ref.Namespace,
			Key: name}); err != nil {
			return Reach{}, err
		}
		if !x509.NewCertPool().AppendCertsFromPEM(r.bundle) {
			return Reach{}, &ClassError{fmt.Sprintf(
				"DNSClass %s: the key %s of the Secret %s/%s contains no PEM certificate; correct it.", o.Name, name, ref.Namespace,
				ref.Name)}
		}
	}
	return r, nil
}

// InRDATA reports whether the server of a class is told numbers in front of the values.
func InRDATA(o *v1alpha1.DNSClass) bool { return o.Spec.NumbersIn == v1alpha1.NumbersInValues }

// Dial makes a client; nothing is sent. Without a transport it has one of its own.
func (r Reach) Dial(now func() time.Time, transport http.RoundTripper) (*dnshook.Client, error) {
	cfg := dnshook.ClientConfig{Server: r.url, Timeout: r.wait, Now: now, Transport: transport, Inject: backend.Inject,
		CABundle: r.bundle, InRDATA: r.rdata}
	if r.key != nil {
		cfg.Keys = func() (dnshook.Key, error) { return *r.key, nil }
	}
	hook, err := dnshook.NewClient(cfg)
	if err != nil {
		return nil, &ClassError{fmt.Sprintf("DNSClass %s: %v; correct spec.server.", r.class, err)}
	}
	return hook, nil
}

// Examine returns what the server of a class is reached with, or what is wrong with that. It connects to nobody.
func Examine(ctx context.Context, live client.Reader, now func() time.Time, o *v1alpha1.DNSClass) (Reach, error) {
	r, err := ReachOf(ctx, live, o)
	if err != nil {
		return Reach{}, err
	}
	hook, err := r.Dial(now, nil) // it tells what is wrong with the URL
	if err != nil {
		return Reach{}, err
	}
	hook.Close()
	return r, nil
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
		return nil, &ClassError{fmt.Sprintf("DNSClass %s: spec.hmacAuth has to have either secretRef or secret.", o.Name)}
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
		return nil, &ClassError{fmt.Sprintf("DNSClass %s, %s: %v.", o.Name, where, err)}
	}
	return &key, nil
}

func secretOf(ctx context.Context, live client.Reader, o *v1alpha1.DNSClass, ref v1alpha1.SecretRef) ([]byte, error) {
	var s corev1.Secret
	err := live.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &s)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &SecretError{Text: fmt.Sprintf("DNSClass %s names the Secret %s/%s, which does not exist; create it.",
			o.Name, ref.Namespace, ref.Name)}
	case apierrors.IsForbidden(err):
		return nil, &SecretError{silent: true, Text: fmt.Sprintf("DNSClass %s names the Secret %s/%s, which the operator "+
			"may not read (%v); grant its ServiceAccount the right to get it.",
			o.Name, ref.Namespace, ref.Name, err)}
	case err != nil:
		return nil, fmt.Errorf("reading the Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	value, ok := s.Data[ref.Key]
	if !ok || len(value) == 0 {
		return nil, &SecretError{Text: fmt.Sprintf(
			"DNSClass %s names the key %s of the Secret %s/%s, which is missing; add it.", o.Name, ref.Key, ref.Namespace,
			ref.Name)}
	}
	return value, nil
}

// SecretsOf lists the Secrets that a DNSClass names.
func SecretsOf(c *v1alpha1.DNSClass) []types.NamespacedName {
	var out []types.NamespacedName
	if h := c.Spec.HMACAuth; h != nil && h.SecretRef != nil {
		out = append(out, types.NamespacedName{Namespace: h.SecretRef.Namespace, Name: h.SecretRef.Name})
	}
	if ca := c.Spec.CABundleRef; ca != nil {
		out = append(out, types.NamespacedName{Namespace: ca.Namespace, Name: ca.Name})
	}
	return out
}

// SecretError is why a Secret cannot be used.
type SecretError struct {
	Text   string
	silent bool // of what ends it no event tells: rights are no objects that are followed
}

// Error implements error.
func (e *SecretError) Error() string { return e.Text }

// ClassError is why a DNSClass cannot be used.
type ClassError struct{ Text string }

// Error implements error.
func (e *ClassError) Error() string { return e.Text }

// Ending is why a class that is being deleted takes no record of which its server has nothing.
func Ending(class string) *ClassError {
	return &ClassError{fmt.Sprintf("DNSClass %s is being deleted and takes no new records; name another class in "+
		"dnsClassRef, or create this one again once it is gone.", class)}
}

// ReasonLineFeed is that of what is told of a secret that ends in a line feed.
const ReasonLineFeed = "SecretEndsInNewline"

// LineFeed warns of a secret that ends in a line feed, as those do that an editor wrote.
func (r Reach) LineFeed() string {
	if r.ref == nil || r.key == nil || len(r.key.Secret) == 0 || r.key.Secret[len(r.key.Secret)-1] != '\n' {
		return ""
	}
	return fmt.Sprintf("The key %s of the Secret %s/%s ends in a line feed, which is part of the secret; if the "+
		"server's secret has none, signatures do not match.",
		r.ref.Key, r.ref.Namespace, r.ref.Name)
}

// SameServer reports whether two URLs are of one server.
func SameServer(a, b string) bool { return a == b || ServerOf(a) == ServerOf(b) }

// ServerOf returns a URL as it is written for its server always.
func ServerOf(url string) string {
	if c, err := dnshook.CanonicalServer(url); err == nil {
		return c
	}
	return url
}
