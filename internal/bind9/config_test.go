package bind9

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

var update = flag.Bool("update", false, "write the golden files")

// configured writes a whole configuration folder: what Options make, the key files of a Ring, and zones if Options want
// them.
func (n *testNamed) configured(t testing.TB, o Options) error {
	t.Helper()
	o.ConfigDir, o.DataDir, o.DNSPort, o.ControlPort = n.dir+"/etc", n.dir+"/data", n.dns, n.control
	files, err := Configuration(o)
	if err != nil {
		return err
	}
	operator := Ring{Keys: []Key{testKey("bindy-operator")}, InUse: "bindy-operator"}
	n.current = operator.Keys
	n.publish(t, ForOperator, operator)
	n.publish(t, ForTransfer, Ring{Keys: []Key{testKey("bindy-transfer")}, InUse: "bindy-transfer"})
	if o.Zones {
		files[FileZones] = `zone "user.example" { type primary; file "user.db"; };`
		n.write(t, "data/user.db", goodZone)
	}
	for name, text := range files {
		n.write(t, "etc/"+name, text)
	}
	n.write(t, "data/.here", "")
	n.write(t, "named.conf", fmt.Sprintf("include \"%s/etc/named.conf\";\n", n.dir))
	return nil
}

// publish writes the items of a Ring's Secret where a pod has them.
func (n *testNamed) publish(t testing.TB, p Purpose, r Ring) {
	t.Helper()
	for name, text := range must(r.Data(p, n.control)) {
		if strings.Contains(name, ".") {
			n.write(t, "etc/keys/"+name, string(text))
		}
	}
}

// checkconf is what named-checkconf says of the configuration and all its zones.
func (n *testNamed) checkconf(t testing.TB) (string, error) {
	t.Helper()
	return output("named-checkconf", "-z", filepath.Join(n.dir, "etc", FileMain))
}

// output runs a program of BIND's, also where PATH lacks the folders of a system's administrator.
func output(program string, args ...string) (string, error) {
	if _, err := exec.LookPath(program); err != nil {
		program = filepath.Join("/usr/sbin", program)
	}
	out, err := exec.Command(program, args...).CombinedOutput()
	return string(out), err
}

func readFile(name string) ([]byte, error) { return os.ReadFile(name) }

func optionTable() map[string]Options {
	yes, no := true, false
	signing := func(change func(*Signing)) Options {
		s := Signing{Enabled: true}
		change(&s)
		return Options{Signing: s}
	}
	return map[string]Options{
		"nothing is said":           {},
		"a secondary server":        {Role: Secondary},
		"a resolver":                {Recursion: true},
		"a resolver that validates": {Recursion: true, DNSSECValidation: &yes},
		"a resolver that trusts": {Recursion: true, DNSSECValidation: &no, Forwarders: []string{"192.0.2.1",
			"192.0.2.2:5300", "2001:db8::1", "[2001:db8::2]:53"}},
		"an authoritative one that validates": {DNSSECValidation: &yes},
		"everything in the lists": {
			AllowQuery: []string{"any"}, AllowTransfer: []string{"!192.0.2.1", "192.0.2.0/24", "key partner.example",
				"! key other", "localnets", "2001:db8::/32", "::1", "none"},
			ListenOn: []string{"127.0.0.1", "localhost"}, ListenOnV6: []string{"none"},
		},
		"empty lists": {AllowQuery: []string{}, AllowTransfer: []string{}, Forwarders: []string{},
			ListenOnV6: []string{}},
		"names of lists in capitals":     {AllowQuery: []string{"ANY"}, AllowTransfer: []string{"None"}},
		"the user's zones":               {Zones: true},
		"signing as it comes":            signing(func(*Signing) {}),
		"signing with BIND's own policy": signing(func(s *Signing) { s.Policy = "default" }),
		"signing with all values": signing(func(s *Signing) {
			*s = Signing{Enabled: true, Policy: "strict-1", Algorithm: "ed25519", KSKLifetime: "P1Y", ZSKLifetime: "90d",
				NSEC3: true, NSEC3Salt: "AABBCCDD", NSEC3Iterations: 5}
		}),
		"signing with RSA": signing(func(s *Signing) {
			s.Algorithm, s.KSKLifetime, s.ZSKLifetime = "RSASHA256", "unlimited", "5w"
		}),
		"signing with ISO weeks":       signing(func(s *Signing) { s.KSKLifetime, s.ZSKLifetime = "P52W", "P1M2DT3H" }),
		"signing that is switched off": signing(func(s *Signing) { *s = Signing{Policy: "none", Algorithm: "x"} }),
		"a secondary resolver that signs and has zones": {
			Role: Secondary, Recursion: true, Zones: true, Signing: Signing{Enabled: true, NSEC3: true}, Version: "9.20",
			AllowQuery: []string{"10.0.0.0/8"},
		},
	}
}

// TestNamedTakesEveryConfiguration runs named-checkconf on each and starts named with it.
func TestNamedTakesEveryConfiguration(t *testing.T) {
	for name, o := range optionTable() {
		t.Run(name, func(t *testing.T) {
			n := claimNamed(t)
			if err := n.configured(t, o); err != nil {
				t.Fatal(err)
			}
			if out, err := n.checkconf(t); err != nil || strings.Contains(strings.ReplaceAll(out, "loaded serial 1", ""),
				"conf") {
				t.Fatalf("named-checkconf: %v\n%s", err, out)
			}
			n.start(t)
			n.write(t, "data/good.db", goodZone)
			z := Zone{Type: Primary, File: "good.db", AllowUpdate: ACL{must(ListElement(UpdateList))},
				DNSSECPolicy: o.Signing.PolicyName()}
			n.do(t, must(AddZone("good.example", z)))
			if o.Role != Secondary {
				n.write(t, "data/ours.db", goodZone)
				n.do(t, must(AddZone("ours.example", Zone{Type: Primary, File: "ours.db", AllowUpdate: z.AllowUpdate,
					DNSSECPolicy: ZonePolicy})))
			}
		})
	}
}

func TestConfigurationIsAsWritten(t *testing.T) {
	yes := true
	for name, o := range map[string]Options{
		"authoritative": {},
		"resolver": {
			Role: Secondary, Recursion: true, DNSSECValidation: &yes, Forwarders: []string{"192.0.2.53"}, AllowQuery: []string{
				"10.0.0.0/8", "key friend"},
			AllowTransfer: []string{"192.0.2.7"}, ListenOnV6: []string{"none"}, Zones: true,
			Signing: Signing{Enabled: true, NSEC3: true},
		},
	} {
		files := must(Configuration(o))
		ring := Ring{Keys: []Key{testKey("bindy-operator"), testKey("bindy-operator-2")}, InUse: "bindy-operator-2"}
		for file, text := range must(ring.Data(ForOperator, 0)) {
			files["operator/"+file] = string(text)
		}
		for file, text := range must(ring.Data(ForTransfer, 0)) {
			files["transfer/"+file] = string(text)
		}
		var all strings.Builder
		for _, file := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(&all, "-- %s --\n%s\n", file, strings.TrimRight(files[file], "\n"))
		}
		golden := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || string(want) != all.String() {
			t.Errorf("%s differs (%v); go test -update writes it:\n%s", golden, err, all.String())
		}
	}
}

func TestValuesThatBINDWouldNotTake(t *testing.T) {
	in := func(change func(*Signing)) Options {
		s := Signing{Enabled: true}
		change(&s)
		return Options{Path: "spec.config", Signing: s}
	}
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"a name in an ACL", Options{Path: "spec.config", AllowQuery: []string{"any", "nolist"}},
			`spec.config.allowQuery[1]: "nolist" is not an element`},
		{"a host bit", Options{AllowTransfer: []string{"10.1.2.3/8"}}, "inside the network 10.0.0.0/8"},
		{"a mapped address", Options{AllowTransfer: []string{"::ffff:10.1.2.3"}}, "write 10.1.2.3"},
		{"an address of one machine", Options{AllowQuery: []string{"fe80::1%eth0"}}, "has a zone"},
		{"a statement", Options{AllowQuery: []string{"any; }; zone x { type primary; }"}}, "is not an element"},
		{"a newline", Options{AllowQuery: []string{"any\n"}}, "is not an element"},
		{"a long element", Options{AllowQuery: []string{strings.Repeat("a", 257)}}, "257 characters, more than 256"},
		{"a key with a quote", Options{AllowQuery: []string{`key "a"b"`}}, "is not an element"},
		{"an empty element", Options{AllowQuery: []string{""}}, "is not an element"},
		{"two exclamation marks", Options{AllowQuery: []string{"!!any"}}, "is not an element"},
		{"a key to listen on", Options{ListenOn: []string{"key a"}}, `listenOn[0]: "key a" is a key`},
		{"a key not to listen on", Options{ListenOnV6: []string{"!key a"}}, `listenOnV6[0]: "!key a" is a key`},
		{"a name for a forwarder", Options{Forwarders: []string{"192.0.2.1", "dns.example"}},
			`forwarders[1]: "dns.example" is not a forwarder`},
		{"a forwarder at port 0", Options{Forwarders: []string{"192.0.2.1:0"}}, "is not a forwarder"},
		{"BIND's policy with values", in(func(s *Signing) { s.Policy, s.Algorithm = "default", "ED25519" }),
			"spec.config.dnssec.signing.policy is \"default\", which is built into BIND"},
		{"BIND's policy none", in(func(s *Signing) { s.Policy = "none" }), "built into"},
		{"BIND's policy insecure", in(func(s *Signing) { s.Policy = "Insecure" }), "built into"},
		{"a policy with a dot", in(func(s *Signing) { s.Policy = "a.b" }), "write up to 63"},
		{"a policy that is too long", in(func(s *Signing) { s.Policy = strings.Repeat("a", 64) }), "write up to 63"},
		{"a broken algorithm", in(func(s *Signing) { s.Algorithm = "RSASHA1" }), `algorithm is "RSASHA1"`},
		{"a lifetime that is none", in(func(s *Signing) { s.KSKLifetime = "P1M2W" }), "is not a duration"},
		{"a lifetime in years", in(func(s *Signing) { s.KSKLifetime = "1y" }), "is not a duration"},
		{"a lifetime of nothing", in(func(s *Signing) { s.KSKLifetime = "P" }), "is not a duration"},
		{"a lifetime that is too short", in(func(s *Signing) { s.ZSKLifetime = "13d" }),
			"zskLifetime is \"13d\"; write unlimited, or at least 14d"},
		{"a lifetime that overflows", in(func(s *Signing) { s.ZSKLifetime = "99999w" }), "at most 100 years"},
		{"too many iterations", in(func(s *Signing) { s.NSEC3Iterations = 51 }), "accepts 0 to 50"},
		{"iterations in 9.20", Options{Version: "9.20.4-alpine",
			Signing: Signing{Enabled: true, NSEC3: true, NSEC3Iterations: 1}}, "accepts 0 to 0"},
		{"a salt with a quote", in(func(s *Signing) { s.NSEC3Salt = `"` }), "nsec3Salt"},
		{"a role", Options{Role: "hidden"}, "write primary or secondary"},
		{"a folder with a quote", Options{DataDir: `/var/"`}, "not an absolute path"},
		{"a folder with dots", Options{DataDir: `/var/../etc`}, "not an absolute path"},
	} {
		_, err := Configuration(c.o)
		checkOutcome(t, "", err, "!"+c.want)
		if t.Failed() {
			t.Fatal(c.name)
		}
	}
}

// TestWhatARunningServerTells: nothing is given away and no zone is transferred, unless to those who have the key.
func TestWhatARunningServerTells(t *testing.T) {
	n := claimNamed(t)
	if err := n.configured(t, Options{}); err != nil {
		t.Fatal(err)
	}
	n.start(t)
	n.write(t, "data/good.db", goodZone)
	n.do(t, must(AddZone("good.example", Zone{Type: Primary, File: "good.db",
		AllowUpdate: ACL{must(ListElement(UpdateList))}})))
	for _, name := range []string{"version.bind.", "hostname.bind.", "id.server."} {
		m := new(dns.Msg)
		m.Question = []dns.Question{{Name: name, Qtype: dns.TypeTXT, Qclass: dns.ClassCHAOS}}
		if reply := n.ask(t, m, ""); len(reply.Answer) > 0 {
			t.Errorf("it tells its %s: %v", name, reply.Answer)
		}
	}
	if reply := n.ask(t, new(dns.Msg).SetQuestion("example.net.", dns.TypeA), ""); reply.Rcode != dns.RcodeRefused {
		t.Errorf("it answers for a zone it does not have: %s", reply)
	}
	for _, c := range []struct {
		key       string
		transfers bool
	}{{"", false}, {"bindy-operator.", false}, {"bindy-transfer.", true}} {
		if got := n.transfers("good.example.", c.key); got != c.transfers {
			t.Errorf("with the key %q it gives the zone away: %v", c.key, got)
		}
	}
	if err := n.canWrite(); err != nil {
		t.Error(err)
	}
}

// canWrite reports files of named outside the data folder: the root file system is read-only where it runs.
func (n *testNamed) canWrite() error {
	return filepath.WalkDir(n.dir, func(path string, entry fs.DirEntry, err error) error {
		inside := strings.HasPrefix(path, n.dir+"/data/") || strings.HasPrefix(path, n.dir+"/etc/")
		if err == nil && entry.Type().IsRegular() && !inside && filepath.Base(path) != FileMain {
			return fmt.Errorf("named wrote %s", path)
		}
		return err
	})
}

// ask sends a message over TCP, signed with a key of the test's secret unless its name is "".
func (n *testNamed) ask(t testing.TB, m *dns.Msg, key string) *dns.Msg {
	t.Helper()
	reply, err := n.exchange(m, key, secretText)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func (n *testNamed) exchange(m *dns.Msg, key, secret string) (*dns.Msg, error) {
	c := &dns.Client{Net: "tcp", Timeout: 5 * time.Second}
	if key != "" {
		c.TsigSecret = map[string]string{key: secret}
		m.SetTsig(key, dns.HmacSHA256, 300, time.Now().Unix())
	}
	reply, _, err := c.ExchangeContext(context.Background(), m, fmt.Sprintf("127.0.0.1:%d", n.dns))
	return reply, err
}

func (n *testNamed) transfers(zone, key string) bool {
	transfer := new(dns.Transfer)
	m := new(dns.Msg).SetAxfr(zone)
	if key != "" {
		transfer.TsigSecret = map[string]string{key: secretText}
		m.SetTsig(key, dns.HmacSHA256, 300, time.Now().Unix())
	}
	envelopes, err := transfer.In(m, fmt.Sprintf("127.0.0.1:%d", n.dns))
	if err != nil {
		return false
	}
	records := 0
	for e := range envelopes {
		if e.Error != nil {
			return false
		}
		records += len(e.RR)
	}
	return records > 2
}
