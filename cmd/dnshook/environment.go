package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/zonefold/zonefold/internal/backend/all"
)

// A source says where the settings of a provider (package all) come from. The names are those that the provider's users
// know; each of them may have "_FILE" behind it, and is the name of a file with the value then.
type source struct {
	data    []variable // of the Secret of a Backend
	options []variable // of its settings
	region  []string   // the first that is set counts, as with all names
	// named says that zones are known by their names, so that nobody has to list them.
	named bool
}

// A variable is where one value comes from.
type variable struct {
	key   string
	names []string
	flag  string // that says it too; "": there is none
	must  bool
	file  bool // the variable is the name of a file itself
}

// sources are those of the providers of package all.
func sources() map[string]source {
	return map[string]source{
		"aws-route53": { // without any data the SDK looks for credentials itself
			options: []variable{{key: "endpoint", names: []string{"AWS_ENDPOINT_URL_ROUTE_53", "AWS_ENDPOINT_URL"}}},
			region:  []string{"AWS_REGION", "AWS_DEFAULT_REGION"},
		},
		"cloudflare-dns": {
			data:    []variable{{key: "apiToken", names: []string{"CLOUDFLARE_API_TOKEN", "CF_API_TOKEN"}, must: true}},
			options: []variable{{key: "endpoint", names: []string{"CLOUDFLARE_BASE_URL"}}},
		},
		"external-dns-webhook": {
			data: []variable{
				{key: "token", names: []string{"EXTERNAL_DNS_WEBHOOK_PROVIDER_TOKEN"}},
				{key: "caBundle", names: []string{"EXTERNAL_DNS_WEBHOOK_PROVIDER_CA"}},
			},
			options: []variable{{key: "url", names: []string{"EXTERNAL_DNS_WEBHOOK_PROVIDER_URL"},
				flag: "--provider-config url=…", must: true}},
			named: true,
		},
		"google-clouddns": {
			data: []variable{{key: "serviceaccount.json", names: []string{"GOOGLE_APPLICATION_CREDENTIALS"}, must: true,
				file: true}},
		},
		"powerdns": {
			data: []variable{
				{key: "server", names: []string{"PDNS_API_URL"}, flag: "--powerdns", must: true},
				{key: "apiKey", names: []string{"PDNS_API_KEY"}, flag: "--powerdns-key-file", must: true},
				{key: "virtualHost", names: []string{"PDNS_SERVER_NAME"}, flag: "--powerdns-server-id"},
				{key: "trustedCaCert", flag: "--powerdns-ca-file"},
			},
			named: true,
		},
		"rfc2136": {
			data: []variable{
				{key: "server", names: []string{"RFC2136_NAMESERVER"}, flag: "--rfc2136", must: true},
				{key: "tsigKeyName", names: []string{"RFC2136_TSIG_KEY"}, flag: "--tsig-name"},
				{key: "tsigSecret", names: []string{"RFC2136_TSIG_SECRET"}, flag: "--tsig-secret-file"},
				{key: "algorithm", names: []string{"RFC2136_TSIG_ALGORITHM"}, flag: "--tsig-algorithm"},
			},
			named: true,
		},
	}
}

// environment reads variables.
type environment func(string) string

// providerConfig is what opens the account of a provider: flags, which go before variables, and variables. Whoever
// starts this process may have it use the credentials of its surroundings.
func (s *settings) providerConfig(getenv environment) (all.ProviderConfig, error) {
	from := sources()[s.kind]
	cfg := all.ProviderConfig{Type: s.kind, Surroundings: true, Options: map[string]string{}}
	values, err := s.flagged()
	if err != nil {
		return cfg, err
	}
	for _, text := range s.config {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return cfg, fmt.Errorf("--provider-config %q is not of the form name=value", text)
		}
		cfg.Options[key] = value
	}
	for _, v := range from.options {
		if cfg.Options[v.key], err = s.value(v, cfg.Options[v.key], getenv); err != nil {
			return cfg, err
		}
		if cfg.Options[v.key] == "" {
			delete(cfg.Options, v.key)
		}
	}
	for _, v := range from.data {
		value, err := s.value(v, values[v.flag], getenv)
		if err != nil {
			return cfg, err
		}
		if value != "" {
			if cfg.Data == nil {
				cfg.Data = map[string][]byte{}
			}
			cfg.Data[v.key] = []byte(value)
		}
	}
	for _, name := range from.region {
		cfg.Region = cmp.Or(cfg.Region, getenv(name))
	}
	return cfg, nil
}

// flagged is what flags say about the provider, by their names.
func (s *settings) flagged() (map[string]string, error) {
	values := map[string]string{"--powerdns": s.powerdns, "--powerdns-server-id": s.serverID, "--rfc2136": s.update,
		"--tsig-name": s.tsigName, "--tsig-algorithm": s.tsigAlg}
	for flag, file := range map[string]string{"--powerdns-key-file": s.powerdnsKeyFile,
		"--powerdns-ca-file": s.powerdnsCAs, "--tsig-secret-file": s.tsigFile} {
		if file == "" {
			continue
		}
		var err error
		if values[flag], err = credential(file); err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
	}
	return values, nil
}

// value is that of a variable, unless a flag has one.
func (s *settings) value(v variable, flagged string, getenv environment) (string, error) {
	if flagged != "" {
		return flagged, nil
	}
	for _, name := range v.names {
		value, file := getenv(name), getenv(name+"_FILE")
		if v.file {
			value, file = "", value
		}
		switch {
		case value != "" && file != "":
			return "", fmt.Errorf("%s and %s_FILE are both set: remove one of them", name, name)
		case value != "":
			return value, nil
		case file != "":
			text, err := credential(file)
			if err != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
			return text, nil
		}
	}
	if v.must {
		ways := v.names
		if v.flag != "" {
			ways = append([]string{v.flag}, ways...)
		}
		return "", fmt.Errorf("--provider %s needs %s", s.kind, strings.Join(ways, " or "))
	}
	return "", nil
}

// credential is what a file holds, without the line feed at its end.
func credential(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading credentials: %w", err)
	}
	return string(bytes.TrimSpace(text)), nil
}
