package bind9

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

// secretText is 32 octets of 's'.
const secretText = "c3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3M="

func testKey(name string) Key { return Key{Name: name, Algorithm: SHA256, Secret: secretText} }

func TestAGeneratedKeyIsReadAsItWasWritten(t *testing.T) {
	for _, algorithm := range []Algorithm{SHA1, SHA224, SHA256, SHA384, SHA512} {
		k, err := Generate(strings.NewReader(strings.Repeat("s", 32)), "bindy-operator", algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if k.Secret != secretText {
			t.Errorf("the secret is %s, not the 32 octets that were given", k.Secret)
		}
		text, err := RenderKeys(k, testKey("other"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseKeys(text)
		if err != nil || !slices.Equal(got, []Key{k, testKey("other")}) {
			t.Errorf("%s became %v, %v", text, got, err)
		}
	}
	if _, err := Generate(strings.NewReader("short"), "k", SHA256); err == nil {
		t.Error("a key was made of too little randomness")
	}
}

func TestASecretIsNotPrinted(t *testing.T) {
	type holder struct {
		K  Key
		Ks []Key
		P  *Key
	}
	k := testKey("a")
	held := holder{k, []Key{k}, &k}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("key", "k", k, "held", held)
	encoded, _ := json.Marshal(held)
	for _, text := range []string{
		fmt.Sprint(k), fmt.Sprintf("%v %+v %#v %s %q %x %d", k, k, k, k, k, k, k),
		fmt.Sprintf("%v %+v %#v", held, held, held), log.String(), string(encoded),
	} {
		if strings.Contains(text, secretText[:20]) || strings.Contains(text, "73737373") {
			t.Errorf("the secret is in %s", text)
		}
	}
}

func TestKeyFiles(t *testing.T) {
	const one = `key "a" { algorithm hmac-sha256; secret "` + secretText + `"; };`
	for _, c := range []struct{ name, text, want string }{
		{"comments of all three kinds are passed over",
			"# c\n// c\n/* c\n */ key a /* x */ { # y\n algorithm \"HMAC-SHA256\"; // z\n secret " + secretText + "; };", "a"},
		{"the clauses come in either order", `key "a" { secret "` + secretText + `"; algorithm hmac-sha256; };`, "a"},
		{"an empty file has no keys", "\n", ""},
		{"a key without a secret is no key", `key "a" { algorithm hmac-sha256; };`,
			"!line 1: the key \"a\" has no algorithm or no secret"},
		{"a secret that is not base64", `key "a" { algorithm hmac-sha256; secret "not base64, but secret"; };`,
			"!is not base64"},
		{"a secret that can be guessed", `key "a" { algorithm hmac-sha256; secret "c2hvcnQ="; };`,
			"!5 octets, fewer than 16"},
		{"MD5", `key "a" { algorithm hmac-md5; secret "` + secretText + `"; };`, "!MD5"},
		{"a secret in the place of the algorithm", `key "a" { algorithm "` + secretText + `"; secret "x"; };`,
			"!44 characters that look like a secret"},
		{"a secret in the place of the name", `key "` + secretText + `" { algorithm hmac-sha256; secret "` + secretText +
			`"; };`, "!44 characters that look like a secret"},
		{"a key with the same name in another case", one + strings.Replace(one, `"a"`, `"A"`, 1),
			"!the key \"A\" occurs twice"},
		{"two secrets", `key "a" { algorithm hmac-sha256; secret "` + secretText + `"; secret "` + secretText + `"; };`,
			"!one secret"},
		{"another statement", one + `controls { };`, "!only the statement key is allowed"},
		{"an open brace", `key "a" { algorithm hmac-sha256;`, "!a brace is not closed"},
		{"an open quote", `key "a`, "!not closed by a quote"},
		{"an open comment", `/* key`, "!not closed by */"},
		{"a missing semicolon", `key "a" { algorithm hmac-sha256 secret "` + secretText + `"; };`, "!there is no \";\""},
		{"a name that would end the string", `key "a\"; };" { algorithm hmac-sha256; secret "` + secretText + `"; };`,
			"!backslash"},
		{"a name with a brace", `key "a{" { algorithm hmac-sha256; secret "` + secretText + `"; };`,
			"!has the character '{'"},
		{"a control character", "key a \x01", "!control character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			keys, err := ParseKeys(c.text)
			checkOutcome(t, names(keys), err, c.want)
			if err != nil && strings.Contains(err.Error(), secretText[:20]) {
				t.Errorf("the secret is in the error: %v", err)
			}
		})
	}
}

// checkOutcome compares with what is wanted: a value, or after '!' a part of an error.
func checkOutcome(t *testing.T, got string, err error, want string) {
	t.Helper()
	if part, failing := strings.CutPrefix(want, "!"); failing {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %q, %v; wanted an error with %q", got, err, part)
		}
	} else if err != nil || got != want {
		t.Errorf("got %q, %v; wanted %q", got, err, want)
	}
}

func names(keys []Key) string {
	var all []string
	for _, k := range keys {
		all = append(all, k.Name)
	}
	return strings.Join(all, " ")
}

func TestClientConfig(t *testing.T) {
	files := map[string]string{
		"rndc.conf": "include \"rndc.key\";\noptions { default-key \"B.\"; default-server 127.0.0.1; default-port 9530; " +
			"};\nserver 127.0.0.1 { key a; addresses { ::1 port 1; }; };",
		"rndc.key":   strings.TrimSpace(must(RenderKeys(testKey("a"), testKey("b")))),
		"loop.conf":  `include "loop.conf";`,
		"lost.conf":  "\n\ninclude \"lost\";",
		"port.conf":  `options { default-port 70000; };`,
		"zones.conf": `zone "x" { };`,
	}
	read := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	conf, err := ParseClientConfig("rndc.conf", read)
	if err != nil {
		t.Fatal(err)
	}
	if conf.DefaultKey != "B." || conf.DefaultServer != "127.0.0.1" || conf.DefaultPort != 9530 ||
		names(conf.OrderedKeys()) != "b a" {
		t.Errorf("read %+v with keys %s", conf, names(conf.OrderedKeys()))
	}
	for name, want := range map[string]string{"loop.conf": "!more than 16 files", "port.conf": "!not a port number",
		"zones.conf": "!only the statements key, options, server and include are allowed"} {
		_, err := ParseClientConfig(name, read)
		checkOutcome(t, "", err, want)
	}
	if _, err := ParseClientConfig("lost.conf", read); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(),
		"line 3") {
		t.Errorf("a missing included file: %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func FuzzParseKeys(f *testing.F) {
	f.Add(must(RenderKeys(testKey("a"), testKey("b.c"))))
	f.Add("key \"a\" { /* */ algorithm hmac-sha1; secret \"" + secretText + "\"; };")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := ParseKeys(text)
		if err != nil {
			return
		}
		again, err := RenderKeys(keys...)
		if err != nil {
			t.Fatalf("keys that were read cannot be written: %v", err)
		}
		if got, err := ParseKeys(again); err != nil || !slices.Equal(got, keys) {
			t.Fatalf("%q became %v, %v", again, got, err)
		}
	})
}
