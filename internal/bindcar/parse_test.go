package bindcar

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const (
	testSecret  = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA=="
	inCluster   = "RNDC_SECRET=" + testSecret + " KUBERNETES_SERVICE_HOST=10.0.0.1 KUBERNETES_SERVICE_PORT=443 "
	withAccount = inCluster + "BIND_ALLOWED_SERVICE_ACCOUNTS=system:serviceaccount:zonefold-system:zonefold-operator "
)

// environment reads NAME=value words.
func environment(text string) func(string) string {
	values := map[string]string{}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

// TestB2Start has what would leave the API open keep the program from starting.
func TestB2Start(t *testing.T) {
	for _, test := range []struct{ name, args, env, wrong string }{
		{"in a pod", "run", withAccount, ""},
		{"in a pod, without the command", "--debug", withAccount, ""},
		{"nobody to ask", "run", "RNDC_SECRET=" + testSecret, "callers cannot be identified"},
		{"nobody is allowed", "run", inCluster, "neither BIND_ALLOWED_SERVICE_ACCOUNTS nor BIND_ALLOWED_NAMESPACES is set"},
		{"everybody is allowed", "run", inCluster + "BIND_ALLOW_ANY_SERVICEACCOUNT=true", ""},
		{"a namespace is allowed", "run", inCluster + "BIND_ALLOWED_NAMESPACES=zonefold-system", ""},
		{"a short name of an account", "run", inCluster + "BIND_ALLOWED_SERVICE_ACCOUNTS=operator", "not of the form"},
		{"a shared token", "run", "BIND_API_TOKEN=x RNDC_SECRET=" + testSecret, ""},
		{"a shared token and an API server", "run",
			"BIND_API_TOKEN=x KUBE_API_SERVER=https://a KUBE_TOKEN_PATH=b KUBE_CA_CERT_PATH=c RNDC_SECRET=" + testSecret,
			"only one of them"},
		{"an API server in part", "run", withAccount + "KUBE_API_SERVER=https://a", "all three or none"},
		{"an API server without TLS", "run", withAccount + "KUBE_API_SERVER=http://a KUBE_TOKEN_PATH=b KUBE_CA_CERT_PATH=c",
			"must begin with https://"},
		{"authentication disabled for everybody", "run", withAccount + "DISABLE_AUTH=true", "everyone can reach it"},
		{"authentication disabled on loopback", "run", withAccount + "DISABLE_AUTH=true BIND_API_ADDRESS=127.0.0.1", ""},
		{"authentication disabled on purpose", "run --i-know-this-is-insecure", withAccount + "DISABLE_AUTH=true", ""},
		{"authentication disabled on purpose, by a variable", "run", withAccount +
			"DISABLE_AUTH=true BINDCAR_ALLOW_INSECURE_AUTH=true", ""},
		{"authentication perhaps disabled", "run", withAccount + "DISABLE_AUTH=ja", "must be true or false"},
		{"no key", "run", strings.Replace(withAccount, "RNDC_SECRET", "RNDC_SECRETS", 1),
			"no key for BIND's control channel"},
		{"MD5", "run", withAccount + "RNDC_ALGORITHM=md5", "RNDC_ALGORITHM"},
		{"no rate", "run", withAccount + "RATE_LIMIT_BURST=0", "must be a number of 1 or more"},
		{"an address that is none", "run", withAccount + "BIND_API_ADDRESS=everywhere", "is not an IP address"},
		{"a list that is none", "run", withAccount + "BINDCAR_UPDATE_ACL=a;b", "BINDCAR_UPDATE_ACL"},
		{"a farewell that is none", "run", withAccount + "BINDCAR_LEAVE_SECS=-1", "is not a number of seconds"},
		{"a drone without a directory", "drone", withAccount, "BIND_ZONE_DIR is not set"},
		{"a drone", "drone", withAccount + "BIND_ZONE_DIR=/zones RNDC_SERVER=192.0.2.1", ""},
		{"a drone by name", "drone", withAccount + "BIND_ZONE_DIR=/zones RNDC_SERVER=bind.example:953", ""},
		{"flags before the command", "-d drone", withAccount, "BIND_ZONE_DIR is not set"},
		{"two commands", "run drone", withAccount, `"drone" is neither a command nor a flag`},
		{"an unknown command", "walk", withAccount, `"walk" is neither a command nor a flag`},
	} {
		_, err := ParseSettings(strings.Fields(test.args), environment(test.env))
		if test.wrong == "" && err != nil || test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) {
			t.Errorf("%s: %v, wanted %q", test.name, err, test.wrong)
		}
		if err != nil && strings.Contains(err.Error(), testSecret) {
			t.Errorf("%s: the error tells the secret", test.name)
		}
	}
}

func TestSettingsOfAPod(t *testing.T) {
	s, err := ParseSettings([]string{"run"}, environment(`BIND_ZONE_DIR=/var/cache/bind API_PORT=8080 RUST_LOG=warn TMPDIR=/tmp RNDC_SERVER=127.0.0.1:9530
		RNDC_KEY_FILE=/etc/bind/keys/rndc.key NSUPDATE_SERVER=127.0.0.1 NSUPDATE_PORT=5353 NSUPDATE_TCP=true BINDCAR_UPDATE_ACL=bindy-update BINDCAR_REQUIRE_CONTENT=true
		BIND_ALLOWED_SERVICE_ACCOUNTS=system:serviceaccount:zonefold-system:zonefold-operator BIND_TOKEN_AUDIENCES=bindcar KUBERNETES_SERVICE_HOST=fd00::1 KUBERNETES_SERVICE_PORT=443
		RATE_LIMIT_REQUESTS=600 RATE_LIMIT_PERIOD_SECS=60 RATE_LIMIT_BURST=20 POD_UID=4c2d2f5e`))
	if err != nil {
		t.Fatal(err)
	}
	for what, both := range map[string][2]any{
		"Listen": {s.Listen, "0.0.0.0:8080"}, "ZoneDir": {s.ZoneDir, "/var/cache/bind"}, "LogLevel": {s.LogLevel, "warn"},
		"RNDC": {s.RNDC, "127.0.0.1:9530"},
		"DNS":  {s.DNS, "127.0.0.1:5353"}, "Keys": {s.Keys.File, "/etc/bind/keys/rndc.key"}, "UpdateACL": {s.UpdateACL,
			"bindy-update"}, "RequireContent": {s.RequireContent, true},
		"APIServer": {s.Review.APIServer, "https://[fd00::1]:443"}, "TokenFile": {s.Review.TokenFile, podTokenFile},
		"Limit": {s.Limit, Limit{true, 600, time.Minute, 20}}, "Docs": {s.Docs, false},
		"Pod": {s.Pod, "4c2d2f5e"},
	} {
		if both[0] != both[1] {
			t.Errorf("%s is %v and not %v", what, both[0], both[1])
		}
	}
	s, err = ParseSettings([]string{"drone"},
		environment(withAccount+"BIND_ZONE_DIR=/zones RNDC_SERVER=bind.example:9530"))
	if err != nil || s.DNS != "bind.example:53" || s.RNDC != "bind.example:9530" {
		t.Errorf("a drone asks %s and %s, %v", s.RNDC, s.DNS, err)
	}
	s, err = ParseSettings(nil, environment(withAccount+
		"RNDC_KEY_NAME=k RNDC_ALGORITHM=sha512 NSUPDATE_KEY_NAME=u NSUPDATE_ALGORITHM=hmac-sha384 NSUPDATE_SECRET="+
		testSecret+" RATE_LIMIT_ENABLED=false"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Keys.Static[0].String() != `key "k" (hmac-sha512)` || s.UpdateKey.String() != `key "u" (hmac-sha384)` ||
		s.RNDC != "127.0.0.1:953" || s.DNS != "127.0.0.1:53" || s.Limit.Enabled {
		t.Errorf("the settings are %+v", s)
	}
}

func TestLimit(t *testing.T) {
	var clock fakeClock
	clock.at.Store(1_000_000)
	l := newLimiter(Limit{Enabled: true, Requests: 600, Period: time.Minute, Burst: 20}, clock.now)
	let := func(peer string, n int) (in int) {
		for range n {
			if l.wait(peer) == 0 {
				in++
			}
		}
		return in
	}
	if got := let("192.0.2.1:1000", 30); got != 20 {
		t.Errorf("of a burst %d are let in, not 20", got)
	}
	if got := let("192.0.2.1:2000", 1); got != 0 {
		t.Error("another port is another peer")
	}
	if got := let("192.0.2.2:1000", 1); got != 1 {
		t.Error("another address is the same peer")
	}
	clock.at.Add(1)
	if got := let("192.0.2.1:1000", 30); got != 10 {
		t.Errorf("after a second %d are let in, not 10, which is 600 a minute", got)
	}
	if l.wait("192.0.2.1:1000"); l.wait("192.0.2.1:1000") != 100*time.Millisecond {
		t.Errorf("the next has to wait %s", l.wait("192.0.2.1:1000"))
	}
	if let("[2001:db8::1]:1", 20); let("[2001:db8::2]:1", 1) != 0 || let("[2001:db8:0:1::1]:1", 1) != 1 {
		t.Error("IPv6 is not counted by /64")
	}
	for i := range maxPeers * 2 {
		clock.at.Add(1)
		l.wait(fmt.Sprintf("10.0.%d.%d:1", i/250, i%250))
		if len(l.peers) > maxPeers {
			t.Fatalf("%d peers are remembered", len(l.peers))
		}
	}
}
