package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/zonefold/zonefold/internal/controller/externaldns"
)

// externalDNSOptions are the flags about clients that are external-dns.
type externalDNSOptions struct{ bind, certDir string }

func externalDNSFlags(f *flag.FlagSet, o *externalDNSOptions) {
	f.StringVar(&o.bind, "external-dns-bind-address", "0", "`address` of the server of external-dns' webhook protocol, "+
		"such as :8888; 0 turns it off. All replicas have the same port")
	f.StringVar(&o.certDir, "external-dns-cert-dir", "", "`folder` with tls.crt and tls.key for that server, which are "+
		"read again when they change (default: plain HTTP)")
}

func (o externalDNSOptions) on() bool { return binds(o.bind) }

// addExternalDNS has every replica serve the protocol of external-dns; those that do not lead pass on what the leader
// has to answer.
func (d *dnsServer) addExternalDNS(m *parts) error {
	o := m.options.externalDNS
	if !o.on() {
		return nil
	}
	listener, err := net.Listen("tcp", o.bind)
	if err != nil {
		return fmt.Errorf("--external-dns-bind-address: %w", err)
	}
	m.ends = append(m.ends, func() { _ = listener.Close() }) // if the manager never starts
	m.log.Info("the server for external-dns listens", "address", listener.Addr().String())
	peer := &leaderProxy{d.leading, listener.Addr().(*net.TCPAddr).AddrPort().Port(), "http", &http.Transport{}}
	if o.certDir != "" {
		watcher, err := certwatcher.New(filepath.Join(o.certDir, "tls.crt"), filepath.Join(o.certDir, "tls.key"))
		if err != nil {
			return fmt.Errorf("--external-dns-cert-dir: %w", err)
		}
		if err := m.Add(watcher); err != nil {
			return err
		}
		listener = tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS12,
			GetCertificate: watcher.GetCertificate})
		peer.secure(watcher.GetCertificate)
	}
	patience := 5 * time.Second
	return m.Add(&manager.Server{
		Name: "external-dns", Listener: listener, ShutdownTimeout: &patience,
		Server: &http.Server{
			Handler: externaldns.Handler(externaldns.Config{
				Tokens: &d.tokens, Leader: d.updates.Load, Pass: peer, Bodies: m.answers, Log: m.log,
			}),
			ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 5 * time.Minute,
			IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		},
	})
}

// A leaderProxy has the replica that leads answer. Its server has the address that it leads from and our port.
type leaderProxy struct {
	leading   func(context.Context) (netip.AddrPort, error)
	port      uint16
	scheme    string
	transport *http.Transport
}

// A certificate is what a server serves with now.
type certificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// secure has the leader show the certificate that all replicas have: it is not for their addresses.
func (p *leaderProxy) secure(own certificate) {
	p.scheme = "https"
	p.transport.TLSClientConfig = &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, //nolint:gosec // it is verified, by another rule
		VerifyConnection: func(s tls.ConnectionState) error {
			ours, err := own(nil)
			if err != nil {
				return err
			}
			if !bytes.Equal(s.PeerCertificates[0].Raw, ours.Certificate[0]) {
				return errors.New("the leader has another certificate than this replica")
			}
			return nil
		},
	}
}

// ServeHTTP implements http.Handler.
func (p *leaderProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at, err := p.leading(r.Context())
	if err != nil {
		http.Error(w, fmt.Sprintf("The leader cannot be reached: %v. Try again.", err), http.StatusServiceUnavailable)
		return
	}
	proxy := httputil.ReverseProxy{
		Transport: p.transport,
		Rewrite: func(out *httputil.ProxyRequest) {
			out.SetURL(&url.URL{Scheme: p.scheme, Host: netip.AddrPortFrom(at.Addr(), p.port).String()})
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, fmt.Sprintf("The leader cannot be reached: %v. Try again.", err), http.StatusServiceUnavailable)
		},
	}
	proxy.ServeHTTP(w, r)
}
