package all

import (
	"errors"
	"fmt"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/cloudflare"
	"github.com/zonefold/zonefold/internal/backend/dialguard"
	"github.com/zonefold/zonefold/internal/backend/dynamodb"
	"github.com/zonefold/zonefold/internal/backend/extdns"
	"github.com/zonefold/zonefold/internal/backend/googleclouddns"
	"github.com/zonefold/zonefold/internal/backend/powerdns"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/backend/route53"
)

// ProviderConfig is what opens an account at a service: the type of the provider, as DNSRecords of Gardener and
// Backends have it, and what Secret and object say.
type ProviderConfig struct {
	Type    string
	Data    map[string][]byte // of the Secret; nil: there is none
	Region  string
	Options map[string]string
	// Surroundings allows the credentials of the process itself (of its Pod, of its machine). Who writes the Secret
	// decides whether they are used, so it has to be somebody who may use them.
	Surroundings bool
	// Guard keeps an account whose address the Secret says from addresses that who writes it may not reach. Nil: there are
	// none.
	Guard *dialguard.Guard
}

// A provider is a row of the table of services: a new one is a folder beside this one and a row.
type provider struct {
	name string
	// shared says that many credentials reach the same zones, whose IDs are unique at the service.
	shared bool
	// open reads credentials and says how to make their account. Equal credentials are equal values.
	open func(*Pool, ProviderConfig) (key any, fresh func() (backend.Account, error), err error)
}

func providers() []provider {
	return []provider{
		{"aws-route53", true, opener(route53.FromSecret, (*Pool).route53Account)},
		{"rfc2136", false, opener(rfc2136.FromSecret, (*Pool).rfc2136Account)},
		{"cloudflare-dns", false, opener(cloudflare.FromSecret, (*Pool).cloudflareAccount)},
		{"external-dns-webhook", false, opener(extdns.FromSecret, (*Pool).extdnsAccount)},
		{"google-clouddns", false, opener(googleclouddns.FromSecret, (*Pool).googleAccount)},
		{"powerdns", false, opener(powerdns.FromSecret, (*Pool).powerdnsAccount)},
	}
}

// Providers are the types of providers.
func Providers() []string {
	var names []string
	for _, p := range providers() {
		names = append(names, p.name)
	}
	return names
}

// credentials are what an account was opened with.
type credentials struct {
	provider string
	config   any // comparable
	guard    *dialguard.Guard
}

// Open returns the account that credentials open; nothing is sent. Equal credentials are one account, with one client,
// one limit of its rate and one list of zones, as long as anybody uses it or a Backend of it.
func (p *Pool) Open(cfg ProviderConfig) (backend.Account, error) {
	row, err := providerOf(cfg.Type)
	if err != nil {
		return nil, err
	}
	key, fresh, err := row.open(p, cfg)
	if err == nil {
		err = permitted(cfg, key)
	}
	if err != nil {
		return nil, unreadable(row.name, err)
	}
	return p.accounts.get(credentials{row.name, key, cfg.Guard}, func() (*Account, error) {
		account, err := fresh()
		if err != nil {
			return nil, unreadable(row.name, err)
		}
		a := &Account{service: account, now: p.now, turn: make(chan struct{}, 1)}
		if row.shared {
			a.place = p.reached.newcomer()
		}
		return a, nil
	})
}

// Table returns the registry of external-dns in a table; nothing is sent. The Config is one of aws-route53, whatever
// its type.
func (p *Pool) Table(name string, cfg ProviderConfig) (*dynamodb.Table, error) {
	c, err := dynamodb.FromSecret(cfg.Data, cfg.Region, name, cfg.Options)
	if err == nil {
		err = permitted(cfg, c)
	}
	if err != nil {
		return nil, unreadable("DynamoDB", err)
	}
	c.Reads = p.reads
	return p.tables.get(c, func() (*dynamodb.Table, error) { return dynamodb.New(c, p.now) })
}

// permitted refuses the credentials of the process to those who may not use them.
func permitted(cfg ProviderConfig, key any) error {
	if c, ok := key.(interface{ UsesSurroundings() bool }); ok && c.UsesSurroundings() && !cfg.Surroundings {
		return errors.New(
			"the Secret may not rely on credentials from the operator's environment; put credentials into it")
	}
	return nil
}

// unreadable gives credentials that cannot be right a class: nothing was sent.
func unreadable(provider string, err error) error {
	return &backend.Error{Class: backend.ErrNotAuthorised, Cause: backend.CauseInvalid, Err: fmt.Errorf(
		"credentials for %s: %w", provider, err)}
}

// Check reads credentials as Open does and opens nothing.
func (p *Pool) Check(cfg ProviderConfig) error {
	row, err := providerOf(cfg.Type)
	if err != nil {
		return err
	}
	key, _, err := row.open(p, cfg)
	return errors.Join(err, permitted(cfg, key))
}

// providerOf returns the row of a type.
func providerOf(name string) (provider, error) {
	for _, row := range providers() {
		if row.name == name {
			return row, nil
		}
	}
	return provider{}, &backend.Error{Class: backend.ErrNotAuthorised, Cause: backend.CauseUnsupported,
		Err: fmt.Errorf("the provider type %q is unknown; it must be one of %s", name, strings.Join(Providers(), ", "))}
}

// opener makes the function of a row: C is comparable, and made of plain values.
func opener[C comparable](
	read func(data map[string][]byte, region string, options map[string]string) (C, error),
	open func(*Pool, C, *dialguard.Guard) (backend.Account, error),
) func(*Pool, ProviderConfig) (any, func() (backend.Account, error), error) {
	return func(p *Pool, cfg ProviderConfig) (any, func() (backend.Account, error), error) {
		c, err := read(cfg.Data, cfg.Region, cfg.Options)
		return c, func() (backend.Account, error) { return open(p, c, cfg.Guard) }, err
	}
}

func (p *Pool) rfc2136Account(c rfc2136.AccountConfig, guard *dialguard.Guard) (backend.Account, error) {
	client, err := p.updater(address{c.Server, c.Key, guard})
	if err != nil {
		return nil, err
	}
	return rfc2136.NewAccount(client, c.Zone), nil
}

func (p *Pool) powerdnsAccount(c powerdns.Config, guard *dialguard.Guard) (backend.Account, error) {
	c.Guard = guard
	client, err := p.api(c)
	if err != nil {
		return nil, err
	}
	return powerdns.NewAccount(client), nil
}

func (p *Pool) extdnsAccount(c extdns.Config, guard *dialguard.Guard) (backend.Account, error) {
	c.Guard, c.Reads, c.HTTP = guard, p.reads, p.way
	return extdns.New(c, p.now)
}

// The addresses of these are the services' own, or the administrator's: there is nothing to guard.

func (p *Pool) route53Account(c route53.Config, _ *dialguard.Guard) (backend.Account, error) {
	c.HTTP = p.way
	return route53.New(c)
}

func (p *Pool) cloudflareAccount(c cloudflare.Config, _ *dialguard.Guard) (backend.Account, error) {
	c.HTTP = p.way
	return cloudflare.New(c)
}

func (p *Pool) googleAccount(c googleclouddns.Config, _ *dialguard.Guard) (backend.Account, error) {
	c.HTTP = p.way
	return googleclouddns.New(c)
}
