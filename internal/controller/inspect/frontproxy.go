package inspect

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"
)

// The ConfigMap in which the API server says who its front proxy is, and in which headers it says who asks.
const (
	configNamespace = "kube-system"
	configName      = "extension-apiserver-authentication"
)

// A FrontProxy knows the API server's front proxy, and believes it, and the other replicas, who asks.
type FrontProxy struct {
	own     func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	config  *headerrequest.RequestHeaderAuthRequestController
	ca      *dynamiccertificates.ConfigMapCAController
	proxied authenticator.Request // by who has a certificate of the front proxy's
	passed  authenticator.Request // by another replica
	log     *slog.Logger
}

// NewFrontProxy returns one that reads with a client what the API server says. Replicas show each other the certificate
// that they serve with, which is the same for all.
func NewFrontProxy(c kubernetes.Interface, own func(*tls.ClientHelloInfo) (*tls.Certificate, error),
	log *slog.Logger) (*FrontProxy, error) {
	p := &FrontProxy{own: own, log: log}
	p.config = headerrequest.NewRequestHeaderAuthRequestController(configName, configNamespace, c,
		"requestheader-username-headers", "requestheader-uid-headers", "requestheader-group-headers",
		"requestheader-extra-headers-prefix", "requestheader-allowed-names")
	var err error
	p.ca, err = dynamiccertificates.NewDynamicCAFromConfigMapController("front-proxy", configNamespace, configName,
		"requestheader-client-ca-file", c)
	if err != nil {
		return nil, fmt.Errorf("following the ConfigMap %s/%s: %w", configNamespace, configName, err)
	}
	slices := func(f func() []string) headerrequest.StringSliceProvider {
		return headerrequest.StringSliceProviderFunc(f)
	}
	user, uid, group, extra := slices(p.config.UsernameHeaders), slices(p.config.UIDHeaders),
		slices(p.config.GroupHeaders), slices(p.config.ExtraHeaderPrefixes)
	p.proxied = headerrequest.NewDynamicVerifyOptionsSecure(p.ca.VerifyOptions, slices(p.config.AllowedClientNames), user,
		uid, group, extra)
	p.passed = headerrequest.NewDynamic(user, uid, group, extra)
	return p, nil
}

// Run follows what the API server says until ctx ends. Until it is known, nobody is believed.
func (p *FrontProxy) Run(ctx context.Context) error {
	if err := errors.Join(p.config.RunOnce(ctx), p.ca.RunOnce(ctx)); err != nil && ctx.Err() == nil {
		p.log.Error("the identity of the API server's front proxy cannot be read; until then nobody can inspect anything",
			"configMap", configNamespace+"/"+configName, "error", err)
	}
	var both sync.WaitGroup
	both.Go(func() { p.config.Run(ctx, 1) })
	both.Go(func() { p.ca.Run(ctx, 1) })
	both.Wait()
	return nil
}

// who says who asks, and whether another replica has passed the request on. It removes the headers that tell.
func (p *FrontProxy) who(r *http.Request) (who user.Info, replica bool, err error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, false, errors.New("only the API server's front proxy may ask, with its certificate")
	}
	method := p.proxied
	if own, err := p.own(nil); err == nil && bytes.Equal(own.Certificate[0], r.TLS.PeerCertificates[0].Raw) {
		method, replica = p.passed, true
	}
	found, known, err := method.AuthenticateRequest(r)
	if err != nil || !known {
		return nil, false, errors.Join(errors.New(
			"only the API server's front proxy may ask, and it must name the user"), err)
	}
	return found.User, replica, nil
}
