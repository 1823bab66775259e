package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/cli"
	"github.com/zonefold/zonefold/internal/nameserver"
)

const (
	keyName   = "import-key."
	keySecret = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0MDE="
)

// importZone is a zone that servers load, with what is easily read wrongly.
const importZone = `example.org. 3600 IN SOA ns1.example.org. hostmaster.example.org. 2024010101 7200 900 1209600 300
example.org. 3600 IN NS ns1.example.org.
ns1.example.org. 300 IN A 192.0.2.53
caa.example.org. 60 IN CAA 0 issue "ca\"x;y"
uri.example.org. 60 IN URI 10 1 "https://www.example.org/?a;b"
txt.example.org. 60 IN TXT "v=DKIM1; p=\"x\" \\ \233" "b"
*.wild.example.org. 60 IN MX 10 mail.example.net.
sub.example.org. 60 IN NS ns.sub.example.org.
ns.sub.example.org. 60 IN A 192.0.2.54
`

// run runs the command.
func run(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runOn(t, "", args...)
}

// runOn runs the command with a text on its standard input.
func runOn(t testing.TB, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	code = cli.Run(t.Context(), cli.Env{
		Args: append([]string{"zonefold"}, args...), Stdin: strings.NewReader(input), Stdout: &out, Stderr: &complaints,
		Now: time.Now(), Getenv: func(string) string { return "" },
	})
	return code, out.String(), complaints.String()
}

// backendObjects are Backends of the servers, and the Secrets of these.
func backendObjects(bind string, pdns *nameserver.PowerDNS) string {
	return fmt.Sprintf(`apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: bind}
spec: {rfc2136: {servers: [%q], tsig: {keyName: import-key, secretRef: {name: credentials, key: tsig}}}}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: powerdns}
spec: {powerdns: {url: %q, secretRef: {name: credentials, key: api}}}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: account}
spec: {provider: {type: powerdns, secretRef: {name: account}}}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: broken}
spec: {powerdns: 5}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: keyless}
spec: {powerdns: {url: "http://127.0.0.1:1", secretReff: {name: credentials}}}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: choiceless}
spec: {powerdns: {url: "http://127.0.0.1:1", secretRef: {name: credentials}}}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: zonefold-system}
stringData: {tsig: %q, api: %q}
---
apiVersion: v1
kind: Secret
metadata: {name: account}
stringData: {server: %q, apiKey: %q}
`, bind, pdns.URL, keySecret, pdns.APIKey, pdns.URL, pdns.APIKey)
}

// TestZonesOfServersAreImported imports the same zone from a file, by transfer from BIND, and from BIND and PowerDNS as
// Backends: the manifests are the same.
func TestZonesOfServersAreImported(t *testing.T) {
	bind, pdns := bothServers(t, "example.org.", importZone)
	folder := t.TempDir()
	write := func(file, text string) string {
		path := filepath.Join(folder, file)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("db", importZone)
	key := write("key", fmt.Sprintf("key \"import-key\" {\n\talgorithm hmac-sha256;\n\tsecret %q;\n};\n", keySecret))
	line := write("line", "hmac-sha256:import-key:"+keySecret+"\n")
	other := write("other", "hmac-sha256:other-key:"+keySecret+"\n")
	objects := write("objects.yaml", backendObjects(bind.Addr(), pdns))

	code, want, said := run(t, "import", "file", file, "--origin", "example.org", "-n", "dns")
	if code != 0 {
		t.Fatalf("the file: %d: %s", code, said)
	}
	for what, args := range map[string][]string{
		"a signed transfer":                      {"axfr", bind.Addr(), "example.org", "--tsig", key},
		"a transfer signed with a key in a line": {"axfr", bind.Addr(), "example.org", "--tsig", line},
		"BIND as a Backend":                      {"backend", "bind", "example.org", "-f", objects},
		"PowerDNS as a Backend":                  {"backend", "powerdns", "example.org", "-f", objects},
		"an account of a provider, as a Backend": {"backend", "account", "example.org", "-f", objects},
	} {
		t.Run(what, func(t *testing.T) {
			code, got, said := run(t, append([]string{"import"}, append(args, "-n", "dns")...)...)
			if code != 0 || got != want {
				t.Errorf("it exits with %d and says %s\ngot\n%s\nwant\n%s", code, said, got, want)
			}
		})
	}
	t.Run("objects on the standard input", func(t *testing.T) {
		code, got, said := runOn(t, backendObjects(bind.Addr(), pdns), "import", "backend", "powerdns", "example.org", "-n",
			"dns", "-f", "-")
		if code != 0 || got != want {
			t.Errorf("it exits with %d and says %s\ngot\n%s", code, said, got)
		}
	})
	t.Run("what is PowerDNS' own", func(t *testing.T) { leavesOut(t, pdns, objects, want) })
	t.Run("refusals", func(t *testing.T) { importsNothing(t, bind.Addr(), file, other, objects) })
}

// leavesOut imports a zone that has records of types that DNS does not have.
func leavesOut(t *testing.T, pdns *nameserver.PowerDNS, objects, want string) {
	body := `{"rrsets": [
		{"name": "alias.example.org.", "type": "ALIAS", "ttl": 60, "changetype": "REPLACE",
			"records": [{"content": "lb.example.net."}]},
		{"name": "lua.example.org.", "type": "LUA", "ttl": 60, "changetype": "REPLACE",
			"records": [{"content": "A \"ifportup(443, {'192.0.2.1'})\""}]}]}`
	if err := pdns.Patch(t.Context(), "example.org.", body); err != nil {
		t.Fatal(err)
	}
	code, got, said := run(t, "import", "backend", "powerdns", "example.org", "-f", objects, "-n", "dns")
	if code != 2 || got != want {
		t.Errorf("it exits with %d, and writes otherwise than without these records:\n%s", code, got)
	}
	for _, line := range []string{
		"left out: alias.example.org. TYPE65401: the server keeps its own ALIAS records under the number 65401; no Zone " +
			"can hold them\n",
		"left out: lua.example.org. TYPE65402: the server keeps its own LUA records under the number 65402; no Zone " +
			"can hold them\n",
		"; 2 left out, 0 changed\n",
	} {
		if !strings.Contains(said, line) {
			t.Errorf("it does not say %q:\n%s", line, said)
		}
	}
}

// importsNothing imports from where there is nothing, or nothing to be had.
func importsNothing(t *testing.T, bind, file, other, objects string) {
	for what, c := range map[string]struct {
		args []string
		says string
	}{
		"a transfer without the key": {[]string{"axfr", bind, "example.org"}, "transferring zone example.org. from "},
		"a key that nobody knows":    {[]string{"axfr", bind, "example.org", "--tsig", other}, "transferring zone "},
		"a zone that is not there":   {[]string{"backend", "bind", "example.net", "-f", objects}, "backend bind"},
		"a zone that PowerDNS lacks": {[]string{"backend", "powerdns", "example.net", "-f", objects},
			"backend powerdns has no zone"},
		"a Backend that is not there": {[]string{"backend", "none", "example.org", "-f", objects},
			"the files have no Backend none"},
		"a Backend that cannot be read": {[]string{"backend", "broken", "example.org", "-f", objects},
			"the Backend broken at " + objects + ":"},
		"a Backend without a Secret": {[]string{"backend", "keyless", "example.org", "-f", objects},
			"backend keyless: its spec names no Secret; name it in secretRef"},
		"a Backend whose Secret has several keys": {[]string{"backend", "choiceless", "example.org", "-f", objects},
			"the Secret zonefold-system/credentials has 2 keys; choose one of them with secretRef.key"},
		"a file that is no key":      {[]string{"axfr", bind, "example.org", "--tsig", file}, "contains no TSIG key"},
		"a server that is not there": {[]string{"axfr", "127.0.0.1:1", "example.org"}, "connection refused"},
	} {
		t.Run(what, func(t *testing.T) {
			code, out, said := run(t, append([]string{"import"}, c.args...)...)
			if code != 1 || out != "" || !strings.Contains(said, c.says) || strings.Contains(said, keySecret) {
				t.Errorf("it exits with %d, writes %q and says %s", code, out, said)
			}
		})
	}
}
