package bindcar

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/bind9"
)

// volume makes the key folder one as the kubelet makes them: files behind two links, of which one is replaced.
func (f *fixture) volume() {
	f.t.Helper()
	keys := filepath.Join(f.conf, "keys")
	if err := os.MkdirAll(filepath.Join(f.conf, "..1"), 0o755); err != nil {
		f.t.Fatal(err)
	}
	for _, step := range []error{
		os.Rename(keys, filepath.Join(f.conf, "..1", "keys")), os.Symlink("..1", filepath.Join(f.conf, "..data")),
		os.Symlink(filepath.Join("..data", "keys"), keys),
	} {
		if step != nil {
			f.t.Fatal(step)
		}
	}
}

// replace puts other key files in place of the volume's, all at once.
func (f *fixture) replace(version int, write func()) {
	f.t.Helper()
	next := fmt.Sprintf("..%d", version)
	data := filepath.Join(f.conf, "..data")
	old, err := os.Readlink(data)
	if err != nil {
		f.t.Fatal(err)
	}
	conf := f.conf
	f.conf = filepath.Join(conf, next)
	write()
	f.conf = conf
	for _, step := range []error{
		os.Symlink(next, data+"_tmp"), os.Rename(data+"_tmp", data), os.RemoveAll(filepath.Join(conf, old)),
	} {
		if step != nil {
			f.t.Fatal(step)
		}
	}
}

// TestKeysChangeInPlace goes through a rotation: another key comes, the first one goes, and no call and no update fails
// meanwhile.
func TestKeysChangeInPlace(t *testing.T) {
	f := newFixture(t, nil)
	f.volume()
	f.serve(nil) // now that the folder is a volume
	if status, text := f.call("POST", "/api/v1/zones", createBody("a.test", "")); status != 201 {
		t.Fatal(status, text)
	}
	serial := 0
	works := func(when string) {
		t.Helper()
		serial++
		if status, text := f.call("POST", "/api/v1/zones/a.test/records",
			fmt.Sprintf(`{"name":"w%d","type":"A","value":"192.0.2.5"}`, serial)); status != 201 {
			t.Errorf("%s an update is answered %d %s", when, status, text)
		}
	}
	first, second := testKey("bindy-operator"), testKey("bindy-operator-2")
	accepted := func(keys ...bind9.Key) func() bool {
		want := make([]string, len(keys))
		for i, k := range keys {
			want[i] = acceptedKey(k)
		}
		return func() bool {
			_, text := f.call("GET", "/api/v1/server/keys", "")
			return strings.HasPrefix(text, `{"keys":[`+strings.Join(want, ",")+`],"transfer":[`)
		}
	}
	works("before the rotation")
	f.replace(2, func() { f.keys(first, second) })
	until(t, "accepting the second key", accepted(first, second))
	works("with both keys")
	// whether BIND has read its configuration again or not
	f.replace(20, func() { f.keys(testKey("bindy-operator-9"), first, second) })
	works("with a key that BIND may not know yet")
	f.replace(3, func() { f.keys(second, first) })
	works("with the second key first")
	f.replace(4, func() { f.keys(second) })
	until(t, "dropping the first key", func() bool {
		ok, err := f.server.control.client.Accepts(t.Context(), first)
		return err == nil && !ok && accepted(second)()
	})
	works("with the second key alone")
	f.replace(5, func() { f.keys(testKey("bindy-operator-3")) })
	until(t, "a key without an overlap", accepted(testKey("bindy-operator-3")))
	works("with the third key")
}

// TestKeysThatChangedUnseen has BIND know other keys than the file when bindcar starts.
func TestKeysThatChangedUnseen(t *testing.T) {
	f := newFixture(t, func(s *Settings) { s.Keys = Keys{Static: s.mustKeys(t)} })
	first, second := testKey("bindy-operator"), testKey("bindy-operator-2")
	f.keys(second, first)
	f.serve(nil)
	until(t, "accepting the second key", func() bool {
		_, text := f.call("GET", "/api/v1/server/keys", "")
		return strings.Contains(text, acceptedKey(second))
	})
}

// TestKeysForTransfers has the keys of the file beside the key file tried too, and tells keys of one name apart.
func TestKeysForTransfers(t *testing.T) {
	f := newFixture(t, nil)
	file := filepath.Join(f.conf, "keys", "transfer.key")
	known := testKey("bindy-transfer")
	other := bind9.Key{Name: known.Name, Algorithm: known.Algorithm, Secret: testKey("another").Secret}
	if known.ID() == other.ID() {
		t.Fatal("keys with different secrets have one ID")
	}
	tell := func(k bind9.Key) {
		text, err := bind9.RenderKeys(k)
		if err != nil {
			t.Fatal(err)
		}
		f.write(file, text)
	}
	said := func(k bind9.Key, dns bool) func() bool {
		want := fmt.Sprintf(`"transfer":[{"name":%q,"id":%q,"control":false,"dns":%v}]`, k.Name, k.ID(), dns)
		return func() bool { _, text := f.call("GET", "/api/v1/server/keys", ""); return strings.Contains(text, want) }
	}
	tell(known)
	until(t, "accepting the key for transfers", said(known, true))
	tell(other)
	until(t, "accepting the other key of that name", said(other, true))
}

// acceptedKey is what is told of a key that BIND takes.
func acceptedKey(k bind9.Key) string {
	return fmt.Sprintf(`{"name":%q,"id":%q,"control":true,"dns":true}`, k.Name, k.ID())
}

func (s Settings) mustKeys(t testing.TB) []bind9.Key {
	t.Helper()
	keys, err := s.Keys.current()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
