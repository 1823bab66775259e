package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// applyClass applies the example with the address and the secret of the server that runs.
func (s *stage) applyClass(ctx context.Context) error {
	s.chapter("A DNSClass and its records",
		"The class says where the server is, which Secret signs requests, and which names the namespace production may have.")
	text, err := os.ReadFile(filepath.Join(hookExample, "10-class.yaml"))
	if err != nil {
		return err
	}
	secret, err := os.ReadFile(filepath.Join(s.dir, "hmac-secret"))
	if err != nil {
		return err
	}
	class := strings.NewReplacer("http://cloudflare-dns.dns.svc:7100", s.hook.url, "change-me", string(secret)).Replace(
		string(text))
	if !strings.Contains(class, s.hook.url) || !strings.Contains(class, string(secret)) {
		return fmt.Errorf("%s is not as the demo knows it", hookExample)
	}
	if err := s.applyFile(ctx, "class.yaml", class); err != nil {
		return err
	}
	if err := s.kubectl(ctx, "apply", "-f", filepath.Join(hookExample, "20-records.yaml")); err != nil {
		return err
	}
	timeout := "--timeout=" + patience.String()
	if err := s.kubectl(ctx, "wait", "--for=condition=Ready", "dnsclasses.dns.homelab.mortenolsen.pro", "--all",
		timeout); err != nil {
		return err
	}
	return s.kubectl(ctx, "wait", "--for=condition=Ready", dnsRecords, "--all", "-A", timeout)
}

// dnsRecords is the whole name of the kind: another dialect has one that is called the same.
const dnsRecords = "dnsrecords.dns.homelab.mortenolsen.pro"

func (s *stage) showHookRecords(ctx context.Context) error {
	s.chapter("What became of them")
	return s.kubectl(ctx, "get", "dnsclasses.dns.homelab.mortenolsen.pro,"+dnsRecords, "-A")
}

func (s *stage) digHook(ctx context.Context) error {
	s.chapter("What BIND answers")
	for _, q := range []question{
		{"www.example.com.", "A", []string{"www.example.com. A 192.168.1.100", "www.example.com. A 192.168.1.101"}},
		{"example.com.", "MX", []string{"example.com. MX 10 mail.example.com."}},
		{"_sip._tcp.example.com.", "SRV", []string{"_sip._tcp.example.com. SRV 10 100 5060 sip.example.com."}},
	} {
		if err := s.dig(ctx, s.bind, q); err != nil {
			return err
		}
	}
	return nil
}

// showUnsigned asks the server as somebody who does not have the secret.
func (s *stage) showUnsigned(ctx context.Context) error {
	s.chapter("Somebody else asks it", "Whoever does not have the secret is refused, and nothing changes.")
	url := s.hook.url + "/records/A/example.com/www"
	s.command("curl", "-X", http.MethodDelete, url)
	request, err := http.NewRequestWithContext(ctx, http.MethodDelete, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	s.say("  %s", response.Status)
	if response.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("a request without a signature is answered %s", response.Status)
	}
	return nil
}

// loseHook changes a record while the server is away.
func (s *stage) loseHook(ctx context.Context) error {
	s.chapter("The server goes away",
		"A record changes meanwhile. It says what is wrong, and BIND goes on to answer with what it had.")
	s.hook.stop()
	if err := s.kubectl(ctx, "patch", dnsRecords+"/web-app", "-n", "production", "--type=merge", "-p",
		`{"spec":{"values":["192.168.1.102"]}}`); err != nil {
		return err
	}
	if err := s.kubectl(ctx, "wait", "--for=condition=Ready=false", "-n", "production", dnsRecords+"/web-app",
		"--timeout="+patience.String()); err != nil {
		return err
	}
	if err := s.kubectl(ctx, "get", dnsRecords+"/web-app", "-n", "production", "-o",
		`jsonpath={range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\n"}{end}`); err != nil {
		return err
	}
	if err := s.dig(ctx, s.bind, question{"www.example.com.", "A", []string{"www.example.com. A 192.168.1.100",
		"www.example.com. A 192.168.1.101"}}); err != nil {
		return err
	}
	began := time.Now()
	if err := s.hook.run(); err != nil {
		return err
	}
	if err := s.kubectl(ctx, "wait", "--for=condition=Ready", "-n", "production", dnsRecords+"/web-app",
		"--timeout="+patience.String()); err != nil {
		return err
	}
	s.say("It is back, and the record was there %.1f seconds later: failures are tried again after 5, 10, 20, 40 "+
		"and 60 seconds.", time.Since(began).Seconds())
	return s.dig(ctx, s.bind, question{"www.example.com.", "A", []string{"www.example.com. A 192.168.1.102"}})
}

// deleteRecord deletes an object, which waits until the server does not have the record any more.
func (s *stage) deleteRecord(ctx context.Context) error {
	s.chapter("A record goes", "Its object waits until the server does not have it any more.")
	if err := s.kubectl(ctx, "delete", dnsRecords+"/web-app", "-n", "production",
		"--timeout="+patience.String()); err != nil {
		return err
	}
	return s.dig(ctx, s.bind, question{"www.example.com.", "A", nil})
}
