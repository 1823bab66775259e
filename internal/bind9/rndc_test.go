package bind9

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestCommandsToNamed(t *testing.T) {
	n := startNamed(t, "")
	n.write(t, "good.db", goodZone)
	n.write(t, "bad.db", "$TTL 300\n@ SOA ns.other. h.other. 1 3600 600 86400 300\n")
	static := Zone{Type: Primary, File: "good.db"}
	dynamic := Zone{Type: Primary, File: "good.db", AllowUpdate: ACL{must(KeyElement("a"))}}
	secondary := Zone{Type: Secondary, File: "sec.db",
		Primaries: []Remote{{Address: netip.MustParseAddr("127.0.0.1"), Port: 1, Key: "a"}}}
	zone := func(verb, zone string) Command { return must(ZoneCommand(verb, zone)) }
	for _, c := range []struct {
		name    string
		command Command
		want    string // part of the text
		class   error
	}{
		{"status", must(ServerCommand("status")), "server is up and running", nil},
		{"a new zone", must(AddZone("a.example", dynamic)), "", nil},
		{"a zone twice", must(AddZone("A.example.", dynamic)), "already exists", ErrExists},
		{"a static zone", must(AddZone("0/25.2.0.192.in-addr.arpa", static)), "", nil},
		{"a secondary zone", must(AddZone("s.example", secondary)), "", nil},
		{"a zone without NS", must(AddZone("b.example", Zone{Type: Primary, File: "bad.db"})), "bad zone", ErrBadZone},
		{"a zone without its file", must(AddZone("b.example", Zone{Type: Primary, File: "none.db"})), "file not found",
			ErrNoFile},
		{"a zone with a policy that is not there",
			must(AddZone("b.example", Zone{Type: Primary, File: "good.db", DNSSECPolicy: "p"})), "not found", ErrBadConfig},
		{"the status of a zone", zone("zonestatus", "a.example"), "serial: 1", nil},
		{"the status of no zone", zone("zonestatus", "none.example"), "no matching zone", ErrNotFound},
		{"the status of a zone that is not transferred yet", zone("zonestatus", "s.example"), "zone not loaded",
			ErrNotLoaded},
		{"the configuration of a zone", zone("showzone", "a.example"), `zone "a.example" {`, nil},
		{"the configuration of no zone", zone("showzone", "none.example"), "not found", ErrNotFound},
		{"another configuration", must(ModifyZone("a.example",
			Zone{Type: Primary, File: "good.db", AllowUpdate: dynamic.AllowUpdate, AllowTransfer: ACL{}})), "reconfigured", nil},
		{"another configuration of no zone", must(ModifyZone("none.example", static)), "not found", ErrNotFound},
		{"freeze", zone("freeze", "a.example"), "", nil},
		{"freeze again", zone("freeze", "a.example"), "already frozen", ErrFrozen},
		{"thaw", zone("thaw", "a.example"), "successful", nil},
		{"freeze a secondary zone", zone("freeze", "s.example"), "not primary", ErrWrongType},
		{"notify", zone("notify", "a.example"), "queued", nil},
		{"retransfer", zone("retransfer", "s.example"), "", nil},
		{"retransfer a primary zone", zone("retransfer", "a.example"), "inappropriate zone type", ErrWrongType},
		{"reload a static zone", zone("reload", "0/25.2.0.192.in-addr.arpa"), "", nil},
		{"reload a dynamic zone", zone("reload", "a.example"), "dynamic zone", ErrDynamic},
		{"reload everything", must(ServerCommand("reload")), "successful", nil},
		{"reconfig", must(ServerCommand("reconfig")), "", nil},
		{"delete", must(DeleteZone("s.example", true)), "will be deleted", nil},
		{"delete no zone", must(DeleteZone("none.example", false)), "not found", ErrNotFound},
		{"a word that named does not know", Command{verb: "nosuch", text: "nosuch"}, "unknown command", ErrSyntax},
	} {
		text, err := n.Do(context.Background(), c.command)
		if err != nil {
			text = err.Error()
		}
		if !errors.Is(err, c.class) || (err == nil) != (c.class == nil) || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, %v; wanted %q, %v", c.name, text, err, c.want, c.class)
		}
	}
}

func TestAZoneIsReadAsNamedShowsIt(t *testing.T) {
	n := startNamed(t, "acl \"bindy-transfer\" { key \"a\"; };\ndnssec-policy \"p\" { keys { csk lifetime unlimited "+
		"algorithm ecdsap256sha256; }; };")
	n.write(t, "good.db", goodZone)
	yes, at := true, netip.MustParseAddr
	acl := must(ParseACL("allow", []string{"!192.0.2.1", "192.0.2.0/24", "key a", "! key a", "localnets", "any",
		"2001:db8::/32", "!2001:db8::1"}))
	acl = append(acl, must(ListElement("bindy-transfer")))
	for i, z := range []Zone{
		{Type: Primary, File: "good.db"},
		{Type: Primary, File: "good.db", AllowUpdate: acl, AllowTransfer: acl,
			AlsoNotify: []Remote{{Address: at("192.0.2.7"), Port: 5353, Key: "a"}, {Address: at("2001:db8::7")}}},
		{Type: Primary, File: "zone/dir/good.db", AllowTransfer: ACL{}, AlsoNotify: []Remote{}, DNSSECPolicy: "p",
			InlineSigning: &yes},
		{Type: Secondary, File: "sec.db", Primaries: []Remote{{Address: at("127.0.0.1"), Port: 1, Key: "a"},
			{Address: at("::1")}}},
		{Type: Primary, File: "good.db", others: []string{"notify explicit;", `update-policy { grant "a" zonesub "ANY"; };`}},
	} {
		if strings.Contains(z.File, "/") {
			n.write(t, z.File, goodZone)
		}
		zone := fmt.Sprintf("z%d.example", i)
		n.do(t, must(AddZone(zone, z)))
		first := n.do(t, must(ZoneCommand("showzone", zone)))
		name, got, err := ParseZone(first)
		if err != nil || name != zone {
			t.Fatalf("%s became %q, %v", first, name, err)
		}
		n.do(t, must(ModifyZone(zone, got)))
		if second := n.do(t, must(ZoneCommand("showzone", zone))); second != first {
			t.Errorf("read and written, the configuration changed:\n%s\n%s", first, second)
		}
		if want, got := must(z.render()), must(got.render()); len(z.others) == 0 && want != got {
			t.Errorf("\n%s became\n%s", want, got)
		}
	}
}

func TestLongRepliesAndManyZones(t *testing.T) {
	n := startNamed(t, "")
	for _, octets := range []int{1, 100_000, 1_000_000} {
		if text := n.do(t, Command{verb: "testgen", text: fmt.Sprintf("testgen %d", octets)}); len(text) != octets {
			t.Errorf("of %d octets came %d", octets, len(text))
		}
	}
	n.write(t, "good.db", goodZone)
	const zones, workers = 500, 8
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < zones; i += workers {
				if _, err := n.Do(t.Context(),
					must(AddZone(fmt.Sprintf("z%d.example", i), Zone{Type: Primary, File: "good.db"}))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	if status := n.do(t, must(ServerCommand("status"))); !strings.Contains(status,
		fmt.Sprintf("number of zones: %d", zones+1)) {
		t.Errorf("of %d zones: %s", zones, status)
	}
}

func TestALongCommand(t *testing.T) {
	n := startNamed(t, "")
	n.write(t, "good.db", goodZone)
	z := Zone{Type: Primary, File: "good.db"}
	for i := range 2100 {
		z.AllowTransfer = append(z.AllowTransfer,
			must(AddressElement(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}))))
	}
	n.do(t, must(AddZone("long.example", z)))
	if _, shown, err := ParseZone(n.do(t, must(ZoneCommand("showzone", "long.example")))); err != nil ||
		len(shown.AllowTransfer) != len(z.AllowTransfer) {
		t.Errorf("of %d elements, named shows %d, %v", len(z.AllowTransfer), len(shown.AllowTransfer), err)
	}
	z.AllowTransfer = append(z.AllowTransfer, z.AllowTransfer...)
	if _, err := n.Do(t.Context(), must(ModifyZone("long.example", z))); err == nil || !strings.Contains(err.Error(),
		"more than the 32768 that named accepts") {
		t.Errorf("a command that named would hang up on: %v", err)
	}
}

func TestKeysAreTriedInTurn(t *testing.T) {
	n := startNamed(t, "")
	status := must(ServerCommand("status"))
	wrong, unknown := testKeyOf("x"), testKeyOf("y")
	unknown.Name = "b" // the protocol tells no names: a key is known by its secret alone
	other := Client{Address: n.Address, Now: time.Now, Keys: func() ([]Key, error) { return []Key{wrong, unknown}, nil }}
	if _, err := other.Do(t.Context(), status); !errors.Is(err, ErrUnauthorized) ||
		strings.Contains(err.Error(), wrong.Secret[:20]) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("with wrong keys: %v", err)
	}
	right := []Key{wrong, unknown, testKey("a")}
	other.Keys = func() ([]Key, error) { return right, nil }
	if _, err := other.Do(t.Context(), status); err != nil {
		t.Errorf("with a good key behind wrong ones: %v", err)
	}
	right = []Key{wrong}
	if _, err := other.Do(t.Context(), status); err != nil {
		t.Errorf("with the key that last worked: %v", err)
	}
	for k, want := range map[*Key]bool{&wrong: false, &unknown: false, &n.current[0]: true} {
		if got, err := n.Accepts(t.Context(), *k); got != want || err != nil {
			t.Errorf("named accepts %s: %v, %v", *k, got, err)
		}
	}
	late := Client{Address: n.Address, Now: func() time.Time { return time.Now().Add(-time.Hour) }, Keys: n.Keys}
	if _, err := late.Do(t.Context(), status); !errors.Is(err, ErrUnauthorized) ||
		!strings.Contains(err.Error(), "clock") {
		t.Errorf("with a clock an hour late: %v", err)
	}
	failing := Client{Address: n.Address, Now: time.Now, Keys: func() ([]Key, error) {
		return nil, errors.New("the disk is on fire")
	}}
	if _, err := failing.Do(t.Context(), status); err == nil || !strings.Contains(err.Error(), "on fire") {
		t.Errorf("with keys that cannot be read: %v", err)
	}
}

func TestEveryAlgorithm(t *testing.T) {
	var keys []Key
	n := claimNamed(t)
	for i, a := range []Algorithm{SHA1, SHA224, SHA256, SHA384, SHA512} {
		keys = append(keys, must(Generate(strings.NewReader(strings.Repeat(string(rune('a'+i)), 32)), string(a), a)))
	}
	n.current = keys
	n.write(t, "named.conf", fmt.Sprintf(`%s options { directory "%s"; pid-file none; session-keyfile none; listen-on port %d { 127.0.0.1; }; listen-on-v6 { none; }; };
		controls { inet 127.0.0.1 port %d allow { 127.0.0.1; } keys { %s }; };`, must(RenderKeys(keys...)), n.dir, n.dns, n.control,
		`"hmac-sha1"; "hmac-sha224"; "hmac-sha256"; "hmac-sha384"; "hmac-sha512";`))
	n.start(t)
	for _, k := range keys {
		if ok, err := n.Accepts(t.Context(), k); !ok || err != nil {
			t.Errorf("named does not accept %s: %v", k, err)
		}
	}
}

func TestAServerThatIsGone(t *testing.T) {
	n := startNamed(t, "")
	n.Kill()
	status := must(ServerCommand("status"))
	if _, err := n.Do(t.Context(), status); !errors.Is(err, ErrUnavailable) {
		t.Errorf("named has ended: %v", err)
	}
	deaf := listen(t, func(net.Conn) {})
	deaf.Timeout = 50 * time.Millisecond
	if _, err := deaf.Do(t.Context(), status); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(),
		"did not answer within 50ms") {
		t.Errorf("a server that says nothing: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	deaf.Timeout = time.Minute
	cancel()
	if _, err := deaf.Do(ctx, status); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller gave up: %v", err)
	}
}

func TestGarbageForAReply(t *testing.T) {
	status := must(ServerCommand("status"))
	signed := func(k Key, fields ...field) string { return string(frame(must(encode(k, fields)))) }
	for _, c := range []struct {
		name, reply string
		class       error
	}{
		{"another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n", ErrProtocol},
		{"a length that never comes", "\x00\x00\x01\x00abc", ErrUnavailable},
		{"a huge length", "\x7f\xff\xff\xff", ErrProtocol},
		{"nothing", "\x00\x00\x00\x00", ErrProtocol},
		{"another version", string(frame([]byte{0, 0, 0, 2})), ErrProtocol},
		{"another key's signature", signed(testKeyOf("x"), field{"_ctrl", []field{{"_rpl", "1"}}}), ErrUnauthorized},
		{"no signature", string(frame(append([]byte{0, 0, 0, 1}, must(tableOctets([]field{{"_ctrl", []field{}}}))...))),
			ErrUnauthorized},
		{"a reply to nothing", signed(testKey("a"), field{"_ctrl", []field{{"_rpl", "1"}, {"_ser", "0"}}}), ErrProtocol},
	} {
		n := listen(t, func(conn net.Conn) {
			_, _ = readMessage(conn)
			_, _ = conn.Write([]byte(c.reply))
			conn.Close()
		})
		if _, err := n.Do(t.Context(), status); !errors.Is(err, c.class) {
			t.Errorf("%s: %v; wanted %v", c.name, err, c.class)
		}
	}
}

func testKeyOf(octet string) Key {
	return must(Generate(strings.NewReader(strings.Repeat(octet, 32)), "a", SHA256))
}

func frame(message []byte) []byte {
	var b strings.Builder
	_ = writeMessage(&b, message)
	return []byte(b.String())
}

// listen is a client of something that is not named.
func listen(t *testing.T, serve func(net.Conn)) *Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
		}
	}()
	return &Client{Address: l.Addr().String(), Now: time.Now, Keys: func() ([]Key, error) {
		return []Key{testKey("a")}, nil
	}}
}

// TestNothingIsInjected: of what people write, nothing becomes a second argument or another clause.
func TestNothingIsInjected(t *testing.T) {
	for _, hostile := range []string{
		"a b", "a;b", "a{", "a}", `a"b`, "a'b", "a\nb", "a\rb", "a\tb", "a\x00b", `a\b`, "a#b", "a//b", "a/*b*/", "-clean",
		"/etc", "..", "a..b", "", ".", "é.example", "a,b", "$INCLUDE", "a=b",
		strings.Repeat("a", 64), strings.Repeat("a.", 130) + "a",
	} {
		if c, err := ZoneCommand("delzone", hostile); err == nil {
			t.Errorf("the zone name %q became the command %q", hostile, c.text)
		}
		for what, z := range map[string]Zone{
			"policy": {Type: Primary, File: "f", DNSSECPolicy: hostile},
			"key": {Type: Primary, File: "f",
				AlsoNotify: []Remote{{Address: netip.MustParseAddr("192.0.2.1"), Key: hostile}}},
			"file": {Type: Primary, File: hostile},
		} {
			c, err := AddZone("a.example", z)
			if err != nil || hostile == "" && what != "file" || what == "file" && fileLike(hostile) {
				continue
			}
			t.Errorf("the %s %q became the command %q", what, hostile, c.text)
		}
	}
	for _, verb := range []string{"halt", "stop", "status; stop", "", "addzone", "STATUS"} {
		if _, err := ServerCommand(verb); err == nil {
			t.Errorf("%q is taken for a command", verb)
		}
		if _, err := ZoneCommand(verb, "a.example"); err == nil {
			t.Errorf("%q is taken for a command about a zone", verb)
		}
	}
}

// fileLike reports whether a hostile name is harmless as a file's.
func fileLike(name string) bool {
	return !strings.ContainsAny(name, " ;{}\"'\n\r\t\x00\\#*,$=é") && !strings.Contains(name, "//") && name != "." &&
		name != ".."
}

func FuzzDecode(f *testing.F) {
	message := must(encode(testKey("a"), []field{{"_ctrl", []field{{"_ser", "1"}}}, {"_data", []field{{"text", "x"}}}}))
	f.Add(message, message[4:])
	f.Add([]byte{0, 0, 0, 1, 1, 'x', 3, 0, 0, 0, 5, 1, 0, 0, 0, 0}, []byte{})
	f.Fuzz(func(t *testing.T, message, body []byte) {
		if got, err := decode(testKey("a"), message); err == nil && got == nil {
			t.Fatal("nothing was decoded without an error")
		}
		// What named signed is read too, whatever it is.
		_, _ = readTable(body, maxDepth)
	})
}
