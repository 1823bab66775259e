package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/hook"
)

// settings are the command line.
type settings struct {
	listen, admin, path string
	certFile, keyFile   string
	zones               list
	secretFiles         list
	algorithm           string
	grace, timeout      time.Duration
	unsigned, verbose   bool
	concurrency         int

	update                       string // of a server that takes dynamic updates
	tsigName, tsigAlg, tsigFile  string
	powerdns, serverID           string
	powerdnsKeyFile, powerdnsCAs string
	embedded, transfer           list // where this process answers DNS questions, and who gets whole zones
	data                         string
}

// list is a flag that may be there more than once.
type list []string

// String implements flag.Value.
func (l *list) String() string { return strings.Join(*l, " ") }

// Set implements flag.Value.
func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

func parse(args []string, to io.Writer) (*settings, error) {
	s := &settings{}
	f := flag.NewFlagSet("dnshook", flag.ContinueOnError)
	f.SetOutput(to)
	f.Var(&s.zones, "zone", "a `zone` that records may be in; others are refused; of several the longest counts (repeatable)")
	f.StringVar(&s.listen, "listen", ":7100", "the `address` for requests")
	f.StringVar(&s.admin, "admin", ":9100", "the `address` for /metrics, /healthz and /readyz; empty: there are none")
	f.StringVar(&s.path, "path", "", "what comes before /health and /records in `paths`, such as /dns")
	f.StringVar(&s.certFile, "tls-cert", "", "a `file` with the certificate, in PEM; it is read again when it changes")
	f.StringVar(&s.keyFile, "tls-key", "", "a `file` with its key")
	f.Var(&s.secretFiles, "secret-file", "a `file` with a secret that signs requests, of which every octet counts; it is read again when it changes (repeatable)")
	f.StringVar(&s.algorithm, "algorithm", string(dnshook.SHA256), "SHA256 or SHA512")
	f.DurationVar(&s.grace, "secret-grace", 10*time.Minute, "how long a secret counts on that was replaced")
	f.BoolVar(&s.unsigned, "unsigned", false, "take requests from everybody who can reach the server")
	f.IntVar(&s.concurrency, "concurrency", 256, "how many requests are worked on at the same time; others are answered 429")
	f.DurationVar(&s.timeout, "timeout", 20*time.Second, "how long one change at the DNS server may take")
	f.BoolVar(&s.verbose, "verbose", false, "log every request")
	f.StringVar(&s.update, "rfc2136", "", "a DNS server that takes dynamic updates, as `host:port`")
	f.StringVar(&s.tsigName, "tsig-name", "", "the `name` of the key that signs updates and transfers")
	f.StringVar(&s.tsigAlg, "tsig-algorithm", "hmac-sha256", "its algorithm")
	f.StringVar(&s.tsigFile, "tsig-secret-file", "", "a `file` with its secret, in base64")
	f.StringVar(&s.powerdns, "powerdns", "", "the `URL` of the API of a PowerDNS Authoritative Server")
	f.StringVar(&s.serverID, "powerdns-server-id", "localhost", "the server behind the API")
	f.StringVar(&s.powerdnsKeyFile, "powerdns-key-file", "", "a `file` with the API key")
	f.StringVar(&s.powerdnsCAs, "powerdns-ca-file", "", "a `file` with certificates of authorities, in PEM")
	f.Var(&s.embedded, "embedded", "answer DNS questions from this process, at the `address:port`, over UDP and TCP (repeatable)")
	f.StringVar(&s.data, "data", "", "the `folder` that keeps the records of --embedded")
	f.Var(&s.transfer, "allow-transfer", "a `network` that gets whole zones from --embedded, such as 192.0.2.0/24 (repeatable)")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	return s, s.check(f.Args())
}

func (s *settings) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q is no flag", rest[0])
	case len(s.zones) == 0:
		return errors.New("say with --zone which zones records may be in, such as --zone example.com")
	case s.places() != 1:
		return errors.New("say where records go: with one of --rfc2136, --powerdns and --embedded")
	case (len(s.embedded) > 0) != (s.data != ""):
		return errors.New("--embedded and --data go together")
	case (len(s.secretFiles) == 0) != s.unsigned:
		return errors.New("say with --secret-file which secret signs requests, or with --unsigned that nobody has to sign")
	case (s.certFile == "") != (s.keyFile == ""):
		return errors.New("--tls-cert and --tls-key go together")
	case (s.tsigName == "") != (s.tsigFile == ""):
		return errors.New("--tsig-name and --tsig-secret-file go together")
	case s.powerdns != "" && s.powerdnsKeyFile == "":
		return errors.New("--powerdns needs --powerdns-key-file")
	case s.grace < 0 || s.timeout <= 0 || s.concurrency <= 0:
		return errors.New("--secret-grace, --timeout and --concurrency are above zero")
	}
	return nil
}

// places is how many kinds of servers records go to.
func (s *settings) places() int {
	n := 0
	for _, named := range []bool{s.update != "", s.powerdns != "", len(s.embedded) > 0} {
		if named {
			n++
		}
	}
	return n
}

// names are the zones.
func (s *settings) names() ([]dnsname.Name, error) {
	var names []dnsname.Name
	for _, text := range s.zones {
		name, err := dnsname.Parse(strings.TrimSuffix(text, ".") + ".")
		if err != nil {
			return nil, fmt.Errorf("--zone %q is no name: %w", text, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// provider is what has records served, by a server of these zones.
func (s *settings) provider(server backend.Backend, zones []dnsname.Name, now func() time.Time) (*hook.Provider, error) {
	cfg := hook.Config{Now: now, Timeout: s.timeout}
	for _, name := range zones {
		cfg.Zones = append(cfg.Zones, hook.Zone{Name: name, Backend: server})
	}
	return hook.New(cfg)
}

// credential is what a file holds, without the line feed at its end.
func credential(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading credentials: %w", err)
	}
	return string(bytes.TrimSpace(text)), nil
}
