package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/zonefold/zonefold/internal/controller/inspect"
)

func inspectFlags(f *flag.FlagSet, bind *string) {
	f.StringVar(bind, "inspect-bind-address", "0", "`address` at which the API server asks what is known of people's "+
		"objects beyond statuses, such as :9444; 0 turns it off. All replicas have the same port; the certificate "+
		"is that of admission")
}

// inspects reports whether objects can be inspected.
func (o *options) inspects() bool { return binds(o.inspect) }

// addInspection has every replica tell what is known of objects; those that do not lead pass on what the leader has to
// answer.
func addInspection(ctx context.Context, m *parts) error {
	if !m.inspects() {
		return nil
	}
	if m.certificate == nil { // somebody else renews it
		folder := m.options.admission.certDir
		watcher, err := certwatcher.New(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"))
		if err != nil {
			return fmt.Errorf("--admission-cert-dir: %w", err)
		}
		if err := m.Add(watcher); err != nil {
			return err
		}
		m.certificate = watcher.GetCertificate
	}
	clients, err := kubernetes.NewForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("reaching the cluster: %w", err)
	}
	proxy, err := inspect.NewFrontProxy(clients, m.certificate, m.log)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", m.options.inspect)
	if err != nil {
		return fmt.Errorf("--inspect-bind-address: %w", err)
	}
	m.ends = append(m.ends, func() { _ = listener.Close() }) // if the manager never starts
	leader := &leaderProxy{m.leading, listener.Addr().(*net.TCPAddr).AddrPort().Port(), "https", &http.Transport{}}
	leader.secure(m.certificate)
	leader.transport.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return m.certificate(nil)
	}
	// A client shows its certificate; whose it may be is looked at with each request, as the API server may tell anew.
	secured := tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: m.certificate,
		ClientAuth: tls.RequestClientCert})
	patience := time.Second
	return errors.Join(m.Add(everywhere{proxy.Run}), m.Add(&manager.Server{
		Name: "inspect", Listener: secured, ShutdownTimeout: &patience,
		Server: &http.Server{
			Handler: inspect.Handler(inspect.Config{
				Resources: m.resources, Proxy: proxy, Client: m.GetClient(), Pass: leader, Log: m.log,
			}),
			ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute,
			IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		},
	}))
}

// leadsFrom returns what the Lease of this operator says while it leads: where its name server answers the others, or,
// without one, where they can ask it about objects. Zero: nobody asks.
func leadsFrom(server *dnsServer, o options) (netip.AddrPort, error) {
	if server != nil {
		return server.at, nil
	}
	if !o.inspects() || !o.election {
		return netip.AddrPort{}, nil
	}
	at, err := bindAddress(o.inspect)
	if err != nil {
		return at, fmt.Errorf("--inspect-bind-address: %w; write a port with or without an address, such as :9444", err)
	}
	if !at.Addr().IsUnspecified() {
		return at, nil
	}
	ip, err := netip.ParseAddr(o.podIP)
	if err != nil {
		return at, fmt.Errorf(
			"the other replicas cannot call this one at %s; use an address in --inspect-bind-address, or set $POD_IP", at)
	}
	return netip.AddrPortFrom(ip, at.Port()), nil
}

// leading returns where another replica leads from.
func (p *parts) leading(ctx context.Context) (netip.AddrPort, error) {
	if !p.election {
		return netip.AddrPort{}, errNobodyLeads
	}
	return another(ctx, p.at, func(ctx context.Context) (netip.AddrPort, bool, error) {
		return leaderAddress(ctx, p.GetAPIReader(), p.namespace)
	})
}
