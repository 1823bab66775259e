package show

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/net/netutil"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/util/cert"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/console"
	"github.com/zonefold/zonefold/internal/hook"
)

// newInCluster makes the command that shows the console to many people.
func newInCluster(env command.Env) *cobra.Command {
	s := sharing{objects: resource.QuantityValue{Quantity: resource.MustParse("32Mi")}}
	cmd := &cobra.Command{
		Use:   "in-cluster",
		Short: "Show the console to many people, each with their own rights",
		Long: `in-cluster serves the console to everyone who has a token that the API server accepts. The
token comes in the header Authorization of each request, as proxies for OpenID Connect send
it, or once in a form, for a cookie. The API server says whose the token is (TokenReview).
Everything is read and done with that token, so with that person's rights. The command itself
needs only the right to create TokenReviews. The chart runs it with console.enabled:
docs/console.md.

Without --tls-cert-dir it makes a certificate for itself at each start.

Exit codes: 0 when interrupted; 1 if it cannot listen, or has no cluster.`,
		Example: `  zonefold console in-cluster --bind-address :8443 --host console.example.org`,
		Args:    command.Takes(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context(), env) },
	}
	f := cmd.Flags()
	f.StringVar(&s.bind, "bind-address", "127.0.0.1:8443", "the address to listen on")
	f.StringArrayVar(&s.hosts, "host", nil, "a host name of the console, besides localhost; repeatable")
	f.StringVar(&s.certDir, "tls-cert-dir", "", "a folder with tls.crt and tls.key, which are read again when they change")
	f.BoolVar(&s.plain, "plain-http", false,
		"use plain HTTP: for a proxy in the same Pod, or on an encrypted network; tokens are readable on the way")
	f.BoolVar(&s.edit, "edit", false, "have forms that change things, with the rights of the person who fills them in")
	f.StringArrayVar(&s.audiences, "audience", nil,
		"an audience that tokens must have, besides the API server; repeatable (default: no other)")
	f.IntVar(&s.people, "people", 10, "how many people may be signed in at a time")
	f.Var(&s.objects, "objects", "how much memory the objects of one person may need, in octets of JSON")
	f.DurationVar(&s.idle, "idle", 15*time.Minute, "how long after the last request a person is signed out")
	f.DurationVar(&s.believe, "review-interval", 30*time.Second,
		"how often the API server is asked again about a token")
	f.StringVar(&s.operator, "operator-namespace", command.OperatorNamespace,
		"the namespace of Secrets that Backends name without one")
	f.BoolVar(&s.sources, "sources", false,
		"also show Services, Ingresses, routes and the like, as the operator does with --source")
	s.cluster.RegisterConnection(cmd)
	return cmd
}

// sharing says how the console is shown to many people.
type sharing struct {
	cluster   command.ClusterFlags // of who asks about tokens
	bind      string
	hosts     []string
	certDir   string
	plain     bool
	edit      bool
	audiences []string
	people    int
	objects   resource.QuantityValue
	idle      time.Duration
	believe   time.Duration
	operator  string
	sources   bool
}

// What strangers may have of the server, and how long requests have at the end.
const (
	maxConnections = 512
	idleConnection = 2 * time.Minute

	readsOfAll = 128 << 20 // of memory, for what is being read from servers
)

// run serves until the context ends.
func (s *sharing) run(ctx context.Context, env command.Env) error {
	if s.people < 1 || s.idle < time.Second || s.believe < time.Second {
		return errors.New("--people is at least 1, --idle and --review-interval are at least 1s")
	}
	if s.objects.Value() < 1<<20 {
		return fmt.Errorf("--objects is %s; it must be an amount of memory of 1Mi or more", s.objects.String())
	}
	config, _, err := s.cluster.Config(env)
	if err != nil {
		return err
	}
	cluster, err := newSharedCluster(env, config, s)
	if err != nil {
		return err
	}
	secured, err := s.tls(env)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.bind)
	if err != nil {
		return fmt.Errorf("listening for the console: %w; choose another --bind-address", err)
	}
	listener = netutil.LimitListener(listener, maxConnections)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	said := log.New(env.Stderr, "console: ", log.LstdFlags|log.LUTC)
	shown, err := console.NewShared(ctx, console.SharedOptions{Cluster: cluster, Hosts: s.hosts, Edit: s.edit,
		People: s.people, Idle: s.idle, Believe: s.believe, Random: rand.Reader, Now: command.Running(env.Now),
		Say: func(sentence string) { said.Println(plain.Line(sentence)) }})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: shown, ReadHeaderTimeout: headersTake, ReadTimeout: requestTake,
		WriteTimeout: answerTakes, IdleTimeout: idleConnection, MaxHeaderBytes: maxHeaders, ErrorLog: said}
	scheme := "http"
	if secured != nil {
		scheme, listener = "https", tls.NewListener(listener, secured)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(env.Stdout, "the console is at %s://%s\n", scheme, listener.Addr())
	select {
	case err := <-served:
		return fmt.Errorf("serving the console: %w", err)
	case <-ctx.Done():
	}
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer stop()
	if server.Shutdown(end) != nil {
		_ = server.Close() // whoever still waits for an answer gets none
	}
	shown.Wait()
	return nil
}

// tls returns what the server proves itself with; nil: it speaks HTTP.
func (s *sharing) tls(env command.Env) (*tls.Config, error) {
	switch {
	case s.plain && s.certDir != "":
		return nil, errors.New("--plain-http uses no certificate; remove it or --tls-cert-dir")
	case s.plain:
		return nil, nil
	case s.certDir != "":
		c := &hook.Certificate{CertFile: filepath.Join(s.certDir, "tls.crt"), KeyFile: filepath.Join(s.certDir, "tls.key"),
			Log: slog.New(slog.NewTextHandler(env.Stderr, nil))}
		config, err := c.Config()
		if err != nil {
			return nil, fmt.Errorf("--tls-cert-dir: %w", err)
		}
		return config, nil
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, s.hosts)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
		NextProtos: []string{"http/1.1"}}, nil
}
