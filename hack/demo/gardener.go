package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	gardenerExample   = "examples/gardener/10-record.yaml"
	gardenerNamespace = "shoot--garden--blue"
	gardenerRecord    = "dnsrecords.extensions.gardener.cloud/blue-external"
	gardenerName      = "api.blue.example.com."
)

// playGardener shows a DNSRecord of Gardener that goes into PowerDNS.
func (s *stage) playGardener(ctx context.Context, exit bool) error {
	s.say("Gardener asks for the DNS records of its clusters by objects, which an extension for each kind of DNS " +
		"service carries out. zonefold")
	s.say("is one for many kinds. This demo takes a Kubernetes control plane as the seed, the operator, and a PowerDNS, " +
		"all real and on loopback.")
	for _, act := range []func(context.Context) error{
		s.startCluster, s.startPowerDNS, s.startGardenerOperator, s.applyRecord, s.changeSpec, s.askForChange, s.rotateKey,
		s.deleteGardenerRecord,
	} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	if exit {
		return nil
	}
	return s.wait(ctx)
}

func (s *stage) startPowerDNS(ctx context.Context) error {
	s.chapter("A DNS service",
		"PowerDNS, with the empty zone example.com, which everybody who has the key of its API may change.")
	zone, err := dnsname.Parse("example.com.")
	if err != nil {
		return err
	}
	s.powerdns, err = nameserver.StartPowerDNS(ctx, nameserver.Options{
		Dir: filepath.Join(s.dir, "powerdns"), Zones: []nameserver.Zone{{Name: zone}},
		Extra: "cache-ttl=0\nquery-cache-ttl=0\nnegquery-cache-ttl=0",
	})
	if err != nil {
		return err
	}
	s.say("It answers at %s, and its API at %s.", s.powerdns.Addr(), s.powerdns.URL)
	return nil
}

// startGardenerOperator runs the operator with this dialect alone, and the rights that the chart gives it then.
func (s *stage) startGardenerOperator(ctx context.Context) error {
	s.chapter("The operator", "With the dialect of Gardener alone, and the rights that the chart gives it then.")
	// the DNS service is on this machine
	return s.runChartOperator(ctx, "gardener", "--tenant-servers-allow", "127.0.0.0/8")
}

// runChartOperator runs the operator with one dialect alone, as a ServiceAccount that has the rights that the chart
// gives it then.
func (s *stage) runChartOperator(ctx context.Context, dialect string, flags ...string) error {
	args := []string{"template", "zonefold", "charts/zonefold", "-n", testoperator.Namespace, "--set",
		"dialects.kubizone=false,dialects." + dialect + "=true"}
	s.command(append([]string{"helm"}, args...)...)
	out, err := testoperator.Helm(ctx, args...)
	if err != nil {
		return err
	}
	space, err := os.ReadFile("charts/namespace.yaml")
	if err != nil {
		return err
	}
	path, err := s.file("zonefold.yaml", string(space)+out)
	if err != nil {
		return err
	}
	return s.runOperator(ctx, path, append([]string{"--dialects", dialect}, flags...)...)
}

// applyRecord applies the example with the address and the key of the server that runs.
func (s *stage) applyRecord(ctx context.Context) error {
	s.chapter("A DNSRecord",
		"As gardenlet makes it: a Secret with credentials, the record set, and an annotation that says: do it now.")
	text, err := os.ReadFile(gardenerExample)
	if err != nil {
		return err
	}
	record := strings.NewReplacer("http://powerdns.dns.svc:8081", s.powerdns.URL, "change-me", s.powerdns.APIKey).Replace(
		string(text))
	if !strings.Contains(record, s.powerdns.URL) || !strings.Contains(record, s.powerdns.APIKey) {
		return fmt.Errorf("%s is not as the demo knows it", gardenerExample)
	}
	if err := s.applyFile(ctx, "record.yaml", record); err != nil {
		return err
	}
	if err := s.awaitRecord(ctx, `{.status.lastOperation.state}`, "Succeeded"); err != nil {
		return err
	}
	if err := s.kubectl(ctx, "get", gardenerRecord, "-n", gardenerNamespace); err != nil {
		return err
	}
	if err := s.showRecord(ctx); err != nil {
		return err
	}
	return s.digRecord(ctx, gardenerName+" A 192.0.2.10")
}

// changeSpec changes a spec and nothing else.
func (s *stage) changeSpec(ctx context.Context) error {
	s.chapter("The spec changes", "Nothing happens: gardenlet, which keeps to maintenance windows, says when.")
	if err := s.patchRecord(ctx, `{"spec":{"values":["192.0.2.11"]}}`); err != nil {
		return err
	}
	return s.digRecord(ctx, gardenerName+" A 192.0.2.10")
}

func (s *stage) askForChange(ctx context.Context) error {
	s.chapter("The annotation", "Now it is done. The operator takes the annotation away when it begins.")
	if err := s.patchRecord(ctx, `{"metadata":{"annotations":{"gardener.cloud/operation":"reconcile"}}}`); err != nil {
		return err
	}
	if err := s.awaitRecord(ctx, `{.status.observedGeneration} {.status.lastOperation.type} {.status.lastOperation.state}`,
		"2 Reconcile Succeeded"); err != nil {
		return err
	}
	return s.digRecord(ctx, gardenerName+" A 192.0.2.11")
}

// rotateKey shows credentials that do not work any more.
func (s *stage) rotateKey(ctx context.Context) error {
	s.chapter("Wrong credentials", "The status says so, with the code by which Gardener knows that its user has to do "+
		"something. PowerDNS goes on as it was.")
	secret := []string{"patch", "secret", "dnsrecord-blue-external", "-n", gardenerNamespace, "--type=merge", "-p"}
	if err := s.kubectl(ctx, append(secret, `{"stringData":{"apiKey":"another"}}`)...); err != nil {
		return err
	}
	if err := s.patchRecord(ctx, `{"metadata":{"annotations":{"gardener.cloud/operation":"reconcile"}}}`); err != nil {
		return err
	}
	if err := s.awaitRecord(ctx, `{.status.lastError.codes[0]}`, "ERR_INFRA_UNAUTHENTICATED"); err != nil {
		return err
	}
	if err := s.showRecord(ctx); err != nil {
		return err
	}
	s.say("The right ones come back, and it is tried again at once.")
	if err := s.kubectl(ctx, append(secret, fmt.Sprintf(`{"stringData":{"apiKey":%q}}`,
		s.powerdns.APIKey))...); err != nil {
		return err
	}
	if err := s.awaitRecord(ctx, `{.status.lastOperation.state}`, "Succeeded"); err != nil {
		return err
	}
	return s.digRecord(ctx, gardenerName+" A 192.0.2.11")
}

func (s *stage) deleteGardenerRecord(ctx context.Context) error {
	s.chapter("The DNSRecord goes", "Its object waits until PowerDNS does not have the record set any more.")
	if err := s.kubectl(ctx, "delete", gardenerRecord, "-n", gardenerNamespace,
		"--timeout="+patience.String()); err != nil {
		return err
	}
	return s.digRecord(ctx)
}

func (s *stage) patchRecord(ctx context.Context, patch string) error {
	return s.kubectl(ctx, "patch", gardenerRecord, "-n", gardenerNamespace, "--type=merge", "-p", patch)
}

// awaitRecord waits until the DNSRecord has a value.
func (s *stage) awaitRecord(ctx context.Context, path, want string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.until(ctx, func() error {
		out, err := s.cluster.RunKubectl(ctx, "get", gardenerRecord, "-n", gardenerNamespace, "-o", "jsonpath="+path)
		if err != nil {
			return err
		}
		if out != want {
			return fmt.Errorf("%s of %s is %q and does not become %q", path, gardenerRecord, out, want)
		}
		return nil
	})
}

// showRecord prints what the status says.
func (s *stage) showRecord(ctx context.Context) error {
	return s.kubectl(ctx, "get", gardenerRecord, "-n", gardenerNamespace, "-o",
		`jsonpath={.status.lastOperation.type} {.status.lastOperation.state}, in the zone {.status.zone}{"\n"}{.status.lastError.description}{"\n"}`)
}

func (s *stage) digRecord(ctx context.Context, want ...string) error {
	return s.dig(ctx, s.powerdns.Server, question{gardenerName, "A", want})
}
