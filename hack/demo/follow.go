package main

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	followerKey = "follower."
	catalog     = "catalog.example."
)

// embedded is all that the operator needs to answer by itself.
const embedded = `apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata:
  name: embedded
spec:
  default: true # as the other Backend: Zones that name none go to both
  grants: [{namespaces: [dns], zones: ["example.org."]}]
  embedded: {}
`

// answerItself has the zones served by the operator as well, and asks it.
func (s *stage) answerItself(ctx context.Context) error {
	s.chapter("The operator as a name server", "It answers by itself too, from the same zones under the same serials. A "+
		"Backend of the kind embedded is all it needs.")
	if err := s.applyFile(ctx, "embedded.yaml", embedded); err != nil {
		return err
	}
	if err := s.kubectl(ctx, "wait", "--for=condition=Ready", "backends.zonefold.dev/embedded",
		"--timeout="+patience.String()); err != nil {
		return err
	}
	return s.servedBy(ctx, s.dns)
}

// applyFile shows a manifest and applies it.
func (s *stage) applyFile(ctx context.Context, name, text string) error {
	path, err := s.file(name, text)
	if err != nil {
		return err
	}
	s.command("cat", path)
	s.show(text)
	return s.kubectl(ctx, "apply", "-f", path)
}

// servedBy waits until a server has every zone as BIND has it, and asks it.
func (s *stage) servedBy(ctx context.Context, server *nameserver.Server) error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	zones, err := zoneNames()
	if err != nil {
		return err
	}
	for _, zone := range zones {
		serial, err := s.bind.Serial(waiting, zone)
		if err != nil {
			return err
		}
		if err := server.Await(waiting, zone, serial); err != nil {
			return err
		}
	}
	for _, q := range questions() {
		if !slices.Contains([]string{"MX", "AAAA", "SRV"}, q.rrtype) {
			continue
		}
		if err := s.dig(ctx, server, q); err != nil {
			return err
		}
	}
	return nil
}

// hidden is the Backend embedded with what others need to follow it.
const hidden = `apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata:
  name: embedded
spec:
  default: true
  grants: [{namespaces: [dns], zones: ["example.org."]}]
  embedded:
    catalogZone: %s # lists the zones
    transfer:
      - tsig: {keyName: %s, secretRef: {name: follower-key}} # who signs with it gets zones, nobody else does
    notify:
      - address: %s # is told of every change at once
`

// follow starts a BIND that follows the operator, and asks it.
func (s *stage) follow(ctx context.Context) error {
	s.chapter("A BIND that follows it",
		"Name servers that you have can copy the zones (AXFR, IXFR) and be told of changes (NOTIFY), as from any primary.",
		"This one is told no zone's name: it follows a catalog zone (RFC 9432), in which the operator lists them.")
	if err := s.startFollower(ctx); err != nil {
		return err
	}
	key, err := s.file("follower.secret", s.followerSecret)
	if err != nil {
		return err
	}
	if err := s.kubectl(ctx, "create", "secret", "generic", "follower-key", "-n", testoperator.Namespace,
		"--from-file=secret="+key); err != nil {
		return err
	}
	if err := s.applyFile(ctx, "embedded.yaml", fmt.Sprintf(hidden, catalog, followerKey, s.follower.Addr())); err != nil {
		return err
	}
	return s.servedBy(ctx, s.follower)
}

// startFollower starts it and shows the part of its configuration that matters.
func (s *stage) startFollower(ctx context.Context) error {
	key, err := dnsname.Parse(followerKey)
	if err != nil {
		return err
	}
	name, err := dnsname.Parse(catalog)
	if err != nil {
		return err
	}
	primary, err := netip.ParseAddrPort(s.dns.Addr())
	if err != nil {
		return fmt.Errorf("the operator's own address: %w", err)
	}
	s.followerSecret = newSecret()
	dir := filepath.Join(s.dir, "follower")
	s.follower, err = nameserver.StartBIND(ctx, nameserver.Options{Dir: dir, Follow: &nameserver.Follow{
		Primary: primary, Catalog: name, Key: &nameserver.TSIG{Name: key, Algorithm: "hmac-sha256", Secret: s.followerSecret},
	}})
	if err != nil {
		return err
	}
	s.say("It answers at %s. All of its configuration that is about zones:", s.follower.Addr())
	args := []string{"-oE", "(catalog-zones|^zone).*", filepath.Join(dir, "named.conf")}
	s.command(append([]string{"grep"}, args...)...)
	out, err := exec.CommandContext(ctx, "grep", args...).CombinedOutput()
	s.show(string(out))
	return err
}

// zoneNames returns the zones of the quickstart.
func zoneNames() ([]dnsname.Name, error) {
	var zones []dnsname.Name
	for _, text := range quickstartZones() {
		zone, err := dnsname.Parse(text)
		if err != nil {
			return nil, err
		}
		zones = append(zones, zone)
	}
	return zones, nil
}
