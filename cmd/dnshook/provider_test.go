package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	googledns "google.golang.org/api/dns/v1"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/dnshook/conformance"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/backend/cloudflare/cloudflaretest"
	"github.com/zonefold/zonefold/internal/backend/extdns/extdnstest"
	"github.com/zonefold/zonefold/internal/backend/googleclouddns/clouddnstest"
	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/nameserver"
)

const cloudflareID = "0123456789abcdef0123456789abcdef"

// starters start a server of each provider with the zone example.com, and say how it is reached.
var starters = map[string]func(*site){
	"cloudflare-dns": func(s *site) {
		f := cloudflaretest.Start(s, &cloudflaretest.Zone{ID: cloudflareID, Name: "example.com", Account: "a1"})
		s.env = map[string]string{"CLOUDFLARE_API_TOKEN_FILE": write(s.T, filepath.Join(s.dir, "token"), cloudflaretest.Token+
			"\n"), "CLOUDFLARE_BASE_URL": f.URL + "/client/v4"}
	},
	"aws-route53": func(s *site) {
		f, err := route53test.Start(s.Context(), route53test.Options{Now: time.Now, Delay: time.Hour})
		if err != nil {
			s.Fatal(err)
		}
		s.Cleanup(func() { _ = f.Stop() })
		account := f.NewAccount()
		user := account.NewUser("dnshook")
		account.AddZone("example.com", false)
		s.Setenv("AWS_ACCESS_KEY_ID", user.AccessKeyID) // the SDK looks for it itself
		s.Setenv("AWS_SECRET_ACCESS_KEY", user.SecretAccessKey)
		certificate(s.T, s.dir, 1)
		s.Setenv("AWS_CA_BUNDLE", filepath.Join(s.dir, "tls.crt"))
		s.env = map[string]string{"AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL_ROUTE_53": f.URL}
	},
	"google-clouddns": func(s *site) {
		f := clouddnstest.Start(s, &googledns.ManagedZone{Name: "example-com", DnsName: "example.com.", Visibility: "public"})
		s.env = map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": write(s.T, filepath.Join(s.dir, "account.json"),
			f.Document)}
		s.args = append(s.args, "--provider-config", "endpoint="+f.URL, "--provider-config", "tokenEndpoint="+f.URL+"/token")
	},
	"external-dns-webhook": func(s *site) {
		f := extdnstest.Start(s, "example.com")
		s.env = map[string]string{"EXTERNAL_DNS_WEBHOOK_PROVIDER_URL": f.URL + "/p"}
	},
	"rfc2136": func(s *site) {
		bind := newSite(s.T)
		s.env = map[string]string{"RFC2136_NAMESERVER": bind.dns, "RFC2136_TSIG_KEY": "hook",
			"RFC2136_TSIG_SECRET": tsigSecret}
	},
	"powerdns": func(s *site) {
		f, err := nameserver.StartPowerDNS(s.Context(), nameserver.Options{Dir: s.TempDir(),
			Zones: []nameserver.Zone{{Name: parseName(s.T, "example.com.")}}})
		if err != nil {
			s.Fatal(err)
		}
		s.Cleanup(f.Close)
		s.env = map[string]string{"PDNS_API_URL": f.URL, "PDNS_API_KEY": f.APIKey}
	},
	embeddedKind: func(s *site) {
		s.args = append(s.args, "--embedded", "127.0.0.1:0", "--data", filepath.Join(s.dir, "data"))
	},
}

// TestProviders serves the record of the protocol's own document with each provider, and then finds out whether the
// server is right.
func TestProviders(t *testing.T) {
	const secret = "a secret of sixteen"
	key := dnshook.Key{Secret: []byte(secret)}
	sites := map[string]*site{}
	for _, kind := range kinds() {
		s := &site{T: t, dir: t.TempDir(), args: []string{"serve", "--provider", kind, "--zone", "example.com", "--listen",
			"127.0.0.1:0", "--admin", "127.0.0.1:0"}}
		starters[kind](s)
		sites[kind] = s
	}
	for kind, s := range sites {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s.T = t
			p := s.start("--secret-file", write(t, filepath.Join(s.dir, "secret"), secret))
			example := dnshook.Record{Type: "A", Domain: "example.com", Subdomain: "www", Values: []string{"192.168.1.100",
				"192.168.1.101"}, TTL: 600}
			if _, err := p.client(secret, nil).Upsert(t.Context(), example); err != nil {
				t.Fatal(err)
			}
			if got, there, err := p.client(secret, nil).Get(t.Context(), example.ID()); err != nil || !there ||
				len(got.Values) != 2 || got.TTL != 600 {
				t.Errorf("it shows %+v, %v, %v", got, there, err)
			}
			results, err := conformance.Run(t.Context(), conformance.Config{Server: p.url, Key: &key, Domain: "example.com",
				Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if r.Verdict != conformance.Pass {
					t.Errorf("%s: %s: %s", r.Check, r.Verdict, r.Sentence)
				}
			}
			if status, text := p.fetch("/readyz"); status != 200 {
				t.Errorf("/readyz is answered %d %s", status, text)
			}
		})
	}
}

// TestEveryProviderIsServed holds the table of this command to that of the operator.
func TestEveryProviderIsServed(t *testing.T) {
	for _, kind := range all.Providers() {
		if _, ok := sources()[kind]; !ok {
			t.Errorf("nothing says where the credentials of %s come from", kind)
		}
	}
}

// TestTheExampleOfACloudflareClass holds the manifest to the flags and variables that there are.
func TestTheExampleOfACloudflareClass(t *testing.T) {
	manifest, err := os.ReadFile("../../examples/dnshook/cloudflare.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(manifest), "          args:\n")
	text, _, _ = strings.Cut(text, "          env:\n")
	s, err := parse(strings.Fields(strings.ReplaceAll(text, "            - ", "")), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	token := write(t, filepath.Join(t.TempDir(), "token"), "a-token")
	env := map[string]string{}
	for _, found := range regexp.MustCompile(`\{name: (\w+), value: /secrets/api-token\}`).FindAllSubmatch(manifest, -1) {
		env[string(found[1])] = token
	}
	cfg, err := s.providerConfig(func(name string) string { return env[name] })
	if err != nil || cfg.Type != "cloudflare-dns" || string(cfg.Data["apiToken"]) != "a-token" {
		t.Errorf("it comes to %s, %v", cfg.Type, err)
	}
}
