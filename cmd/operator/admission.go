package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	api "github.com/zonefold/zonefold/api/inspect/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/admission"
)

// admissionOptions are the flags of admission.
type admissionOptions struct {
	bind     string
	certDir  string
	names    string
	lifetime time.Duration
	lenient  bool
	clientCA string
	clients  string
}

func admissionFlags(f *flag.FlagSet, o *admissionOptions) {
	f.StringVar(&o.bind, "admission-bind-address", "0",
		"`address` at which the API server asks about objects before it stores them, such as :9443; 0 turns it off")
	f.StringVar(&o.certDir, "admission-cert-dir", "",
		"`folder` with tls.crt and tls.key for that, renewed by others; empty: the operator makes and renews its own")
	f.StringVar(&o.names, "admission-names", "", "further `names` and addresses in that certificate, separated by "+
		"commas, for API servers that do not call the Service "+admission.ServiceName)
	f.DurationVar(&o.lifetime, "admission-certificate-lifetime", 90*24*time.Hour,
		"how long that certificate is valid; it is renewed after two thirds of that")
	f.StringVar(&o.clientCA, "admission-client-ca-file", "",
		"`file` with the CAs, in PEM, of the clients that may ask for reviews; empty: every client may")
	f.StringVar(&o.clients, "admission-client-names", "",
		"`names` that these certificates may have, separated by commas; empty: any")
	f.BoolVar(&o.lenient, "admission-missing-class-warns", false,
		"store a DNSRecord whose DNSClass does not exist, with a warning, instead of refusing it")
}

func (o admissionOptions) on() bool { return binds(o.bind) }

// addAdmission has every replica review objects of the dialects that are on.
func addAdmission(ctx context.Context, m *parts) error {
	o := m.options.admission
	if !o.on() {
		return nil
	}
	reviewer, err := admission.New(admission.Config{
		Scheme: m.GetScheme(), Examiners: m.examiners, Log: m.log, Clock: time.Now,
		Self: "system:serviceaccount:" + m.namespace + ":" + m.fleet.ServiceAccount,
	})
	if err != nil {
		return fmt.Errorf("preparing admission: %w", err)
	}
	if m.admit != nil {
		return m.Add(everywhere{func(ctx context.Context) error { return m.admit(ctx, reviewer.Handler()) }})
	}
	host, port, err := splitAddress(o.bind)
	if err != nil {
		return err
	}
	options := webhook.Options{Host: host, Port: port, CertDir: o.certDir}
	if o.certDir == "" {
		keeper, err := newKeeper(ctx, m)
		if err != nil {
			return err
		}
		m.certificate = keeper.Certificate
		options.TLSOpts = append(options.TLSOpts, func(c *tls.Config) { c.GetCertificate = keeper.Certificate })
	}
	options.TLSOpts = append(options.TLSOpts, func(c *tls.Config) {
		c.MinVersion = tls.VersionTLS12
		// idle connections of HTTP/2 hold up the end by a second, and with it the next leader
		c.NextProtos = []string{"http/1.1"}
	})
	if o.clientCA != "" {
		clients, err := o.readClients()
		if err != nil {
			return err
		}
		options.TLSOpts = append(options.TLSOpts, clients.Require)
	}
	server, handler := webhook.NewServer(options), reviewer.Handler()
	server.Register(admission.Path, handler)
	for _, e := range m.examiners {
		if e.Path != "" {
			server.Register(e.Path, handler)
		}
	}
	return m.Add(server)
}

// readClients reads who may ask for reviews.
func (o admissionOptions) readClients() (admission.Clients, error) {
	pem, err := os.ReadFile(o.clientCA)
	if err != nil {
		return admission.Clients{}, fmt.Errorf("reading --admission-client-ca-file: %w", err)
	}
	return admission.NewClients(pem, listed(o.clients))
}

func splitAddress(text string) (host string, port int, err error) {
	host, digits, err := net.SplitHostPort(text)
	if err == nil {
		port, err = strconv.Atoi(digits)
	}
	if err != nil || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("--admission-bind-address is %q; write a port with or without an address, such as :9443",
			text)
	}
	return host, port, nil
}

// newKeeper has this operator make and renew the certificate.
func newKeeper(ctx context.Context, m *parts) (*admission.Keeper, error) {
	if m.options.admission.lifetime < 10*time.Second {
		return nil, fmt.Errorf("--admission-certificate-lifetime is %s; a certificate must last for at least 10s",
			m.options.admission.lifetime)
	}
	apiService := ""
	if m.inspects() {
		apiService = api.APIService
	}
	objects, c, err := m.cached(admission.CacheOptions(m.namespace, apiService))
	if err != nil {
		return nil, fmt.Errorf("reading what admission needs: %w", err)
	}
	service := admission.ServiceName + "." + m.namespace + ".svc"
	k := &admission.Keeper{
		Policy:    admission.Policy{Names: []string{service}, Lifetime: m.options.admission.lifetime, Rand: rand.Reader},
		Namespace: m.namespace, APIService: apiService, Client: c, Cache: objects, Clock: time.Now, Log: m.log,
	}
	k.Names = append(k.Names, listed(m.options.admission.names)...)
	if err := k.Follow(ctx); err != nil {
		return nil, err
	}
	return k, m.Add(manager.RunnableFunc(k.Run))
}
