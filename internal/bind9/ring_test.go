package bind9

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// A counter is randomness that does not repeat.
type counter struct{ n uint64 }

func (c *counter) Read(b []byte) (int, error) {
	for i := range b {
		if i%8 == 0 {
			c.n++
		}
		b[i] = binary.BigEndian.AppendUint64(nil, c.n*0x9e3779b97f4a7c15)[i%8]
	}
	return len(b), nil
}

// stored is what a Ring is after it was written to a Secret and read again.
func stored(t testing.TB, p Purpose, r Ring) Ring {
	got, err := ReadRing(p, must(r.Data(p, 0)), r.Annotations())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A play is a Ring that is asked and published again and again.
type play struct {
	t        testing.TB
	ring     Ring
	now      time.Time
	settings Settings
	accepts  func(Key) bool
}

func newPlay(t testing.TB) *play {
	return &play{t: t, now: start, settings: Settings{Purpose: ForOperator, Rand: &counter{}}, accepts: func(Key) bool {
		return true
	}}
}

func (p *play) next() Step {
	r, step, err := Next(p.ring, p.now, p.settings, p.accepts)
	if err != nil {
		p.t.Fatal(err)
	}
	if step.Reason == "" || step.Move == Wait && !step.Again.After(p.now) {
		p.t.Fatalf("the step does not say why, or when to ask again: %+v", step)
	}
	if !step.Published() && fmt.Sprint(r) != fmt.Sprint(p.ring) {
		p.t.Fatalf("a step that is not published changed the ring: %+v\n%v\n%v", step, p.ring, r)
	}
	p.ring = stored(p.t, p.settings.Purpose, r)
	return step
}

// expect compares the moves, and the key names after each with the one in use first.
func (p *play) expect(moves ...string) {
	p.t.Helper()
	for _, want := range moves {
		step := p.next()
		got := fmt.Sprintf("%s %s", step.Move, p.ring.InUse)
		for _, k := range p.ring.Keys {
			if k.Name != p.ring.InUse {
				got += " " + k.Name
			}
		}
		if got != want {
			p.t.Fatalf("%s: %q, wanted %q (%s)", p.now.Sub(start), got, want, step.Reason)
		}
	}
}

func TestARotation(t *testing.T) {
	p := newPlay(t)
	p.settings.RotateAfter = 24 * time.Hour
	p.expect("Create bindy-operator", "Keep bindy-operator")
	p.now = start.Add(24*time.Hour - time.Second)
	p.expect("Keep bindy-operator")
	p.now = start.Add(24 * time.Hour)
	p.accepts = func(Key) bool { return false }
	p.expect("Add bindy-operator bindy-operator-2", "Wait bindy-operator bindy-operator-2",
		"Wait bindy-operator bindy-operator-2")
	p.now = p.now.Add(time.Hour)
	p.accepts = func(k Key) bool { return k.Name == "bindy-operator-2" }
	p.expect("Switch bindy-operator-2 bindy-operator", "Wait bindy-operator-2 bindy-operator")
	if want := p.now.Add(24 * time.Hour); !p.ring.RotateAt.Equal(want) || !p.ring.CreatedAt.Equal(p.now) ||
		p.ring.Count != 1 {
		t.Errorf("after the switch: %+v", p.ring)
	}
	p.now = p.now.Add(Overlap - time.Second)
	p.expect("Wait bindy-operator-2 bindy-operator")
	p.now = p.now.Add(time.Second)
	p.expect("Remove bindy-operator-2", "Keep bindy-operator-2")
	p.now = p.now.Add(24 * time.Hour)
	p.accepts = func(Key) bool { return true }
	p.expect("Add bindy-operator-2 bindy-operator-3", "Switch bindy-operator-3 bindy-operator-2")
}

func TestSettingsThatChange(t *testing.T) {
	t.Run("without rotation a key is kept", func(t *testing.T) {
		p := newPlay(t)
		p.expect("Create bindy-operator")
		p.now = p.now.AddDate(10, 0, 0)
		p.expect("Keep bindy-operator")
		p.settings.RotateAfter = time.Hour
		p.expect("Mend bindy-operator", "Add bindy-operator bindy-operator-2")
		p.settings.RotateAfter = 0
		p.expect("Mend bindy-operator bindy-operator-2", "Mend bindy-operator bindy-operator-2",
			"Wait bindy-operator bindy-operator-2")
	})
	t.Run("another algorithm makes another key", func(t *testing.T) {
		p := newPlay(t)
		p.expect("Create bindy-operator")
		p.settings.Algorithm = SHA512
		p.expect("Add bindy-operator bindy-operator-2")
		p.settings.Algorithm = SHA384
		p.expect("Add bindy-operator bindy-operator-2 bindy-operator-3",
			"Switch bindy-operator-3 bindy-operator bindy-operator-2")
		if k, _ := p.ring.Key(); k.Algorithm != SHA384 {
			t.Errorf("the key in use is %s", k)
		}
	})
	t.Run("transfer keys have their own names", func(t *testing.T) {
		p := newPlay(t)
		p.settings.Purpose = ForTransfer
		p.expect("Create bindy-transfer")
	})
	t.Run("a ring that was lost does not use a name again", func(t *testing.T) {
		p := newPlay(t)
		p.settings.Past = 3
		p.expect("Create bindy-operator-4")
	})
}

func TestASuppliedKey(t *testing.T) {
	mine, other := testKey("mine"), testKeyOf("o")
	changed := must(Generate(strings.NewReader(strings.Repeat("c", 32)), "mine", SHA256))
	other.Name = "other"
	t.Run("it is there from the start", func(t *testing.T) {
		p := newPlay(t)
		p.settings.External = &mine
		p.expect("Create mine", "Keep mine")
		p.settings.External = &other
		p.expect("Add mine other", "Switch other mine")
		p.now = p.now.Add(Overlap)
		p.expect("Remove other")
		p.settings.External = nil
		p.expect("Add other bindy-operator-3", "Switch bindy-operator-3 other")
	})
	t.Run("it comes later, and is changed under the same name", func(t *testing.T) {
		p := newPlay(t)
		p.expect("Create bindy-operator")
		p.settings.External = &mine
		p.expect("Add bindy-operator mine", "Switch mine bindy-operator")
		p.now = p.now.Add(Overlap)
		p.expect("Remove mine")
		p.settings.External = &changed
		p.expect("Add mine bindy-operator-3", "Switch bindy-operator-3 mine")
		if k, _ := p.ring.named("mine"); k != changed {
			t.Error("servers are not given the changed secret")
		}
		p.settings.External = &mine
		p.expect("Replace bindy-operator-3 mine", "Switch mine bindy-operator-3")
		p.now = p.now.Add(Overlap)
		p.expect("Remove mine", "Keep mine")
	})
	t.Run("it has the name of a made one", func(t *testing.T) {
		p := newPlay(t)
		p.expect("Create bindy-operator")
		same := testKeyOf("s")
		same.Name = "bindy-operator"
		p.settings.External = &same
		p.expect("Add bindy-operator bindy-operator-2", "Switch bindy-operator-2 bindy-operator",
			"Switch bindy-operator bindy-operator-2")
		if k, _ := p.ring.Key(); k != same {
			t.Error("it is not in use")
		}
	})
	t.Run("while it cannot be used, nothing changes", func(t *testing.T) {
		p := newPlay(t)
		p.settings.Unusable, p.settings.RotateAfter = true, time.Hour
		p.expect("Create bindy-operator")
		p.now = p.now.Add(100 * time.Hour)
		p.expect("Keep bindy-operator")
	})
}

// TestServersAndClientsAgree plays rotations with servers that lag, a clock, settings that change and annotations that
// are lost.
func TestServersAndClientsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fleet{play: *newPlayOf(t), servers: make([]int, 3), seen: map[string]Key{}}
		f.accepts = f.accepted
		f.step(t)
		actions := map[string]func(*rapid.T){
			"":     f.check,
			"step": f.step,
			"time": func(t *rapid.T) {
				f.now = f.now.Add(time.Duration(rapid.IntRange(1, 5000).Draw(t, "seconds")) * time.Second)
			},
			"server":   f.apply,
			"new pod":  func(t *rapid.T) { f.servers[rapid.IntRange(0, 2).Draw(t, "server")] = len(f.published) - 1 },
			"settings": f.change,
			"all keep up": func(t *rapid.T) {
				for range 3 {
					f.keepUp()
					f.step(t)
					f.check(t)
				}
			},
			"another secret": func(t *rapid.T) {
				if k := f.settings.External; k != nil {
					changed := testKeyOf(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "secret"))
					changed.Name = k.Name
					f.settings.External = &changed
				}
			},
			"lost annotations": func(t *rapid.T) {
				annotations := f.ring.Annotations()
				for _, name := range []string{AnnotationCreatedAt, AnnotationSwitchedAt, AnnotationRotateAt} {
					if rapid.Bool().Draw(t, name) {
						delete(annotations, name)
					}
				}
				f.ring = must(ReadRing(ForOperator, must(f.ring.Data(ForOperator, 0)), annotations))
			},
		}
		t.Repeat(actions)
		f.settles(t)
	})
}

func newPlayOf(t *rapid.T) *play {
	p := newPlay(nil)
	p.settings.RotateAfter = time.Hour
	return p
}

type fleet struct {
	play
	published []Ring
	servers   []int // the state that each has applied
	seen      map[string]Key
}

func (f *fleet) accepted(k Key) bool {
	for _, state := range f.servers {
		if !slices.Contains(f.published[state].Keys, k) {
			return false
		}
	}
	return true
}

func (f *fleet) step(t *rapid.T) {
	r, step, err := Next(f.ring, f.now, f.settings, f.accepted)
	if err != nil {
		t.Fatal(err)
	}
	if !step.Published() {
		return
	}
	r = must(ReadRing(ForOperator, must(r.Data(ForOperator, 0)), r.Annotations()))
	f.ring = r
	f.published = append(f.published, r)
	for _, k := range r.Keys {
		if old, known := f.seen[k.Name]; known && old != k && ForOperator.made(k.Name) {
			t.Fatalf("the name %s was used for another key before", k.Name)
		}
		f.seen[k.Name] = k
	}
}

func (f *fleet) keepUp() {
	for i := range f.servers {
		f.servers[i] = len(f.published) - 1
	}
}

func (f *fleet) apply(t *rapid.T) {
	i := rapid.IntRange(0, len(f.servers)-1).Draw(t, "server")
	f.servers[i] = rapid.IntRange(f.servers[i], len(f.published)-1).Draw(t, "state")
}

func (f *fleet) change(t *rapid.T) {
	f.settings.RotateAfter = rapid.SampledFrom([]time.Duration{0, time.Hour, 2 * time.Hour}).Draw(t, "rotateAfter")
	f.settings.Algorithm = rapid.SampledFrom([]Algorithm{"", SHA256, SHA512}).Draw(t, "algorithm")
	f.settings.Unusable = rapid.Bool().Draw(t, "unusable")
	f.settings.External = nil
	if name := rapid.SampledFrom([]string{"", "", "x", "y"}).Draw(t, "external"); name != "" && !f.settings.Unusable {
		k := testKeyOf(rapid.SampledFrom([]string{"1", "2"}).Draw(t, "secret"))
		k.Name = name
		f.settings.External = &k
	}
}

// check: every server, however late, accepts what clients sign with now.
func (f *fleet) check(t *rapid.T) {
	current, ok := f.ring.Key()
	if !ok {
		t.Fatal("no key is in use")
	}
	last := f.published[max(0, len(f.published)-2):]
	for _, state := range last {
		if !slices.Contains(state.Keys, current) {
			t.Fatalf("clients sign with %s, and of the last two states one has %v", current, state.Keys)
		}
	}
	if !f.accepted(current) {
		t.Fatalf("clients sign with %s, which a server does not accept", current)
	}
}

// settles: once settings rest and servers keep up, one key is left, and it is the right one.
func (f *fleet) settles(t *rapid.T) {
	f.settings.RotateAfter = 0
	for range 40 {
		f.step(t)
		f.check(t)
		f.keepUp()
		f.now = f.now.Add(Overlap / 2)
	}
	current, _ := f.ring.Key()
	if len(f.ring.Keys) != 1 || f.settings.External != nil && current != *f.settings.External {
		t.Fatalf("it comes to rest with %v, in use %s", f.ring.Keys, current)
	}
	before := len(f.published)
	if f.step(t); len(f.published) != before {
		t.Fatal("it does not come to rest")
	}
}

func TestSecretsThatOthersWrote(t *testing.T) {
	two := must(Ring{Keys: []Key{testKey("a"), testKey("b")}, InUse: "b"}.Data(ForOperator, 0))
	with := func(change map[string]string) map[string][]byte {
		data := maps.Clone(two)
		for item, text := range change {
			if data[item] = []byte(text); text == "" {
				delete(data, item)
			}
		}
		return data
	}
	transfer := map[string][]byte{"key-name": []byte("bindy-transfer"), "secret": []byte(secretText)}
	if r, err := ReadRing(ForTransfer, transfer, nil); err != nil || r.InUse != "bindy-transfer" {
		t.Errorf("a transfer key: %v, %v", r, err)
	}
	for _, c := range []struct {
		name string
		data map[string][]byte
		want string // in use, then all
	}{
		{"as we wrote it", two, "b: b a"},
		{"the file alone", map[string][]byte{"rndc.key": []byte(must(RenderKeys(testKey("x"))))}, "x: x"},
		{"name and secret alone", map[string][]byte{"key-name": []byte("x\n"), "secret": []byte(secretText + "\n")}, "x: x"},
		{"a file that is broken", with(map[string]string{"rndc.key": "key {"}), "b: b"},
		{"a name that the file does not have", with(map[string]string{"key-name": "z"}), "b: b a"},
		{"a secret that the file does not have", with(map[string]string{"secret": testKeyOf("z").Secret}), "b: b a"},
		{"no name", with(map[string]string{"key-name": ""}), "b: b a"},
		{"the other name", with(map[string]string{"key-name": "A"}), "a: b a"},
		{"nothing", nil, "!missing"},
		{"nothing that can be used", with(map[string]string{"rndc.key": "x", "secret": "x"}),
			"!the item rndc.key cannot be used"},
	} {
		r, err := ReadRing(ForOperator, c.data, nil)
		checkOutcome(t, r.InUse+": "+names(r.Keys), err, c.want)
		if t.Failed() {
			t.Fatal(c.name)
		}
	}
}

func TestKeysThatAreSupplied(t *testing.T) {
	items := func(pairs ...string) map[string][]byte {
		data := map[string][]byte{}
		for i := 0; i < len(pairs); i += 2 {
			data[pairs[i]] = []byte(pairs[i+1])
		}
		return data
	}
	for _, c := range []struct {
		name   string
		data   map[string][]byte
		fields ItemFields
		want   string
	}{
		{"the usual items", items("key-name", "x.", "secret", secretText), ItemFields{}, `key "x" (hmac-sha256)`},
		{"other items", items("n", "x", "s", secretText), ItemFields{"n", "s", "hmac-sha512"}, `key "x" (hmac-sha512)`},
		{"the Secret's own algorithm", items("key-name", "x", "secret", secretText, "algorithm", "SHA384"), ItemFields{},
			`key "x" (hmac-sha384)`},
		{"a file", items("rndc.key", must(RenderKeys(testKey("f")))), ItemFields{Algorithm: "hmac-sha256"},
			`key "f" (hmac-sha256)`},
		{"algorithms that differ", items("key-name", "x", "secret", secretText, "algorithm", "hmac-sha1"),
			ItemFields{Algorithm: "hmac-sha256"}, "!make them equal"},
		{"a file whose algorithm differs", items("rndc.key", must(RenderKeys(testKey("f")))),
			ItemFields{Algorithm: "hmac-sha512"}, "!make them equal"},
		{"MD5", items("key-name", "x", "secret", secretText, "algorithm", "hmac-md5"), ItemFields{}, "!MD5"},
		{"no secret", items("key-name", "x"), ItemFields{}, `!the item "secret" is missing`},
		{"nothing", nil, ItemFields{}, "!are missing"},
		{"a file with two keys", items("rndc.key", must(RenderKeys(testKey("f"), testKey("g")))), ItemFields{},
			"!has 2 keys"},
		{"items that were mixed up", items("key-name", secretText, "secret", "x"), ItemFields{}, "!look like a secret"},
		{"a transfer key's name", items("key-name", "bindy-transfer-2", "secret", secretText), ItemFields{},
			"!is for transfers"},
	} {
		k, err := KeyFromItems(c.data, c.fields)
		checkOutcome(t, k.String(), err, c.want)
		if t.Failed() {
			t.Fatal(c.name)
		}
	}
}

func TestPast(t *testing.T) {
	for _, tt := range []struct {
		name    string
		purpose Purpose
		seen    []string
		want    int
	}{
		{"nothing was seen", ForOperator, nil, 0},
		{"only keys that somebody supplied", ForOperator, []string{"theirs", "bindy-transfer-7"}, 0},
		{"the first key", ForOperator, []string{"bindy-operator"}, 1},
		{"several keys", ForTransfer, []string{"bindy-transfer-3", "bindy-transfer-12", "bindy-transfer"}, 12},
	} {
		got := tt.purpose.Past(tt.seen...)
		if got != tt.want {
			t.Errorf("%s: %d keys are known to have been, want %d", tt.name, got, tt.want)
		}
		next, _, err := Next(Ring{}, time.Unix(1, 0), Settings{Purpose: tt.purpose, Past: got, Rand: &counter{}}, nil)
		if err != nil || slices.Contains(tt.seen, next.InUse) {
			t.Errorf("%s: the next key is %q, %v", tt.name, next.InUse, err)
		}
	}
}
