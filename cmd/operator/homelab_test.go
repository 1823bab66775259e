package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestTheEnvironmentOfHomelab(t *testing.T) {
	for _, c := range []struct {
		sentence string
		env      map[string]string
		want     string
	}{
		{"nothing is said", nil, "10m0s 5s 1m0s 5 10m0s"},
		{"everything is said", map[string]string{
			"DNS_CLASS_HEALTH_CHECK_INTERVAL": "1m", "DNS_RECORD_RETRY_BASE_DELAY": "1s", "DNS_RECORD_RETRY_MAX_DELAY": "1h30m",
			"DNS_RECORD_RETRY_MAX_ATTEMPTS": "0",
		}, "1m0s 1s 1h30m0s 0 1m0s"},
		{"no unit", map[string]string{"DNS_RECORD_RETRY_BASE_DELAY": "5"},
			`the environment variable DNS_RECORD_RETRY_BASE_DELAY is "5", not a duration such as 10m or 5s`},
		{"no time at all", map[string]string{"DNS_CLASS_HEALTH_CHECK_INTERVAL": "0s"},
			`the environment variable DNS_CLASS_HEALTH_CHECK_INTERVAL is "0s", not a duration such as 10m or 5s`},
		{"less than none", map[string]string{"DNS_RECORD_RETRY_MAX_ATTEMPTS": "-1"},
			`the environment variable DNS_RECORD_RETRY_MAX_ATTEMPTS is "-1", not a number such as 5`},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			o, err := parse(nil, func(name string) string { return c.env[name] })
			got := fmt.Sprint(o.hooks.health, " ", o.hooks.retry.BaseDelay, " ", o.hooks.retry.MaxDelay, " ",
				o.hooks.retry.MaxAttempts, " ", o.hooks.retry.Slow)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
		})
	}
}

// homelab runs the operator with that dialect and its rights alone.
func (c *cluster) homelab(t *testing.T) {
	for _, kind := range []string{"dnsclasses", "dnsrecords"} {
		if err := c.InstallCRDs(c.ctx, "../../config/crd/dns.homelab.mortenolsen.pro_"+kind+".yaml"); err != nil {
			t.Fatal(err)
		}
	}
	c.kubectl(t, "apply -f ../../config/rbac/homelab.yaml") // instead of those of bindy
	handler, err := dnshook.NewHandler(dnshook.HandlerConfig{Provider: &dnshook.Memory{}, Unsigned: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c.log = &testoperator.Journal{}
	op := c.start(t, c.kubeconfig, "--dialects=homelab")
	c.eventually(t, "readiness", op.Ready)
	manifest := fmt.Sprintf(`apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSClass
metadata: {name: dns}
spec: {server: %q, hmacAuth: {secretRef: {name: hmac, namespace: default, key: key}}}
---
apiVersion: v1
kind: Secret
metadata: {name: hmac, namespace: default}
stringData: {key: a-secret-of-a-test}
---
apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSRecord
metadata: {name: www, namespace: default}
spec: {type: A, domain: example.com, subdomain: www, dnsClassRef: {name: dns}, values: [192.0.2.1]}
`, server.URL)
	if _, err := c.RunKubectlInput(c.ctx, strings.NewReader(manifest), "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	c.kubectl(t, "wait --for=condition=Ready dnsclass/dns dnsrecord/www --timeout=30s")
	answer, err := http.Get(server.URL + "/records/A/example.com/www")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("the server does not have the record: %v, %v", answer, err)
	} else {
		_ = answer.Body.Close()
	}
	c.kubectl(t, "delete dnsrecord/www dnsclass/dns --timeout=30s")
	if text := c.log.String(); strings.Contains(text, "is forbidden") {
		t.Errorf("the operator does more than its dialect:\n%s", text)
	}
	op.Stop()
}
