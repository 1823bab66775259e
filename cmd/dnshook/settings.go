package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/hook"
	"github.com/zonefold/zonefold/internal/version"
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
	version             version.Question
	concurrency         int

	kind                         string // of provider; says where records go
	config                       list
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
	f.Var(&s.zones, "zone", "a `zone` that records may be in, followed by =ID if the provider has several of that name; "+
		"records elsewhere are refused; the longest match counts (repeatable)")
	f.StringVar(&s.kind, "provider", "",
		"where records go; all except embedded take credentials from the environment: `one` of "+
			strings.Join(kinds(), ", "))
	f.Var(&s.config, "provider-config",
		"a setting of the provider, as `name=value`, such as endpoint=http://127.0.0.1:8080 (repeatable)")
	f.StringVar(&s.listen, "listen", ":7100", "the `address` for requests")
	f.StringVar(&s.admin, "admin", ":9100", "the `address` for /metrics, /healthz and /readyz; empty turns them off")
	f.StringVar(&s.path, "path", "", "what comes before /health and /records in `paths`, such as /dns")
	f.StringVar(&s.certFile, "tls-cert", "", "a `file` with the certificate, in PEM; it is read again when it changes")
	f.StringVar(&s.keyFile, "tls-key", "", "a `file` with its key")
	f.Var(&s.secretFiles, "secret-file",
		"a `file` with a secret that signs requests; every octet counts; it is read again when it changes (repeatable)")
	f.StringVar(&s.algorithm, "algorithm", string(dnshook.SHA256), "SHA256 or SHA512")
	f.DurationVar(&s.grace, "secret-grace", 10*time.Minute, "how long a replaced secret remains valid")
	f.BoolVar(&s.unsigned, "unsigned", false, "accept requests from everyone who can reach the server")
	f.IntVar(&s.concurrency, "concurrency", 256,
		"how many requests are handled at the same time; others are answered 429")
	f.DurationVar(&s.timeout, "timeout", 20*time.Second, "how long one change at the DNS server may take")
	f.BoolVar(&s.verbose, "verbose", false, "log every request")
	f.Var(&s.version, "version", "print the version and end; with =json, as JSON")
	f.StringVar(&s.update, "rfc2136", "", "a DNS server that accepts dynamic updates, as `host:port`")
	f.StringVar(&s.tsigName, "tsig-name", "", "the `name` of the key that signs updates and transfers")
	f.StringVar(&s.tsigAlg, "tsig-algorithm", "", "its algorithm (default hmac-sha256)")
	f.StringVar(&s.tsigFile, "tsig-secret-file", "", "a `file` with its secret, in base64")
	f.StringVar(&s.powerdns, "powerdns", "", "the `URL` of the API of a PowerDNS Authoritative Server")
	f.StringVar(&s.serverID, "powerdns-server-id", "", "the server behind the API (default localhost)")
	f.StringVar(&s.powerdnsKeyFile, "powerdns-key-file", "", "a `file` with the API key")
	f.StringVar(&s.powerdnsCAs, "powerdns-ca-file", "", "a `file` with CA certificates, in PEM")
	f.Var(&s.embedded, "embedded",
		"answer DNS questions from this process, at the `address:port`, over UDP and TCP (repeatable)")
	f.StringVar(&s.data, "data", "", "the `folder` that keeps the records of --embedded")
	f.Var(&s.transfer, "allow-transfer",
		"a `network` that gets whole zones from --embedded, such as 192.0.2.0/24 (repeatable)")
	if len(args) > 0 && args[0] == "serve" { // all that there is to be done
		args = args[1:]
	}
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if rest := f.Args(); len(rest) > 0 {
		return nil, fmt.Errorf("%q is not a flag", rest[0])
	}
	if s.version.Asked() {
		return s, nil
	}
	if err := s.choose(); err != nil {
		return nil, err
	}
	return s, s.check()
}

func (s *settings) check() error {
	switch {
	case len(s.zones) == 0:
		return errors.New("name the zones that records may be in, such as --zone example.com")
	case s.kind == embeddedKind && len(s.config) > 0:
		return errors.New("--provider-config is for other providers than embedded")
	case (s.kind == embeddedKind || s.data != "") && (len(s.embedded) == 0 || s.data == ""):
		return errors.New("--embedded and --data go together")
	case (len(s.secretFiles) == 0) != s.unsigned:
		return errors.New(
			"name the secret that signs requests with --secret-file, or allow unsigned requests with --unsigned")
	case (s.certFile == "") != (s.keyFile == ""):
		return errors.New("--tls-cert and --tls-key go together")
	case (s.tsigName == "") != (s.tsigFile == ""):
		return errors.New("--tsig-name and --tsig-secret-file go together")
	case s.grace < 0 || s.timeout <= 0 || s.concurrency <= 0:
		return errors.New("--secret-grace, --timeout and --concurrency must be above zero")
	}
	return nil
}

// embeddedKind is the provider that this process is itself.
const embeddedKind = "embedded"

// kinds are the providers.
func kinds() []string { return append(all.Providers(), embeddedKind) }

// choose settles where records go. The flags of a provider name it as well.
func (s *settings) choose() error {
	for _, flag := range []struct {
		kind  string
		named bool
	}{{"rfc2136", s.update != ""}, {"powerdns", s.powerdns != ""}, {embeddedKind, len(s.embedded) > 0}} {
		switch {
		case !flag.named || s.kind == flag.kind:
		case s.kind != "":
			return fmt.Errorf("records go to one provider, and --%s is not for %s", flag.kind, s.kind)
		default:
			s.kind = flag.kind
		}
	}
	if !slices.Contains(kinds(), s.kind) {
		return fmt.Errorf("choose where records go with --provider: one of %s", strings.Join(kinds(), ", "))
	}
	return nil
}

// A place is a zone that records may be in.
type place struct {
	name dnsname.Name
	id   string // at the provider; "": the one of the name
}

// places are the zones.
func (s *settings) places() ([]place, error) {
	var places []place
	for _, text := range s.zones {
		text, id, _ := strings.Cut(text, "=")
		name, err := dnsname.Parse(strings.TrimSuffix(text, ".") + ".")
		if err != nil {
			return nil, fmt.Errorf("--zone %q is not a name: %w", text, err)
		}
		if id != "" && s.kind == embeddedKind {
			return nil, fmt.Errorf("--zone %s=%s: zones of embedded have no IDs", text, id)
		}
		places = append(places, place{name, id})
	}
	return places, nil
}

// provider is what has records served.
func (s *settings) provider(at server, zones []place, now func() time.Time) (*hook.Provider, error) {
	cfg := hook.Config{Now: now, Timeout: s.timeout}
	for _, z := range zones {
		cfg.Zones = append(cfg.Zones, hook.Zone{Name: z.name, Backend: at.zone(z)})
	}
	return hook.New(cfg)
}
