package rfc2136

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
)

var testNow = time.Unix(1_700_000_000, 0)

func testKey(t testing.TB) Key {
	return Key{Name: name(t, "key."), Algorithm: "hmac-sha256", Secret: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}
}

// played answers one connection after the other: each function gets the request as it came and writes what it likes.
func played(t testing.TB, key Key, play ...func(request []byte, w io.Writer)) *Client {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for _, f := range play {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			if request, err := readFrame(c); err == nil {
				f(request, c)
			}
			c.Close()
		}
	}()
	client, err := New(Config{Server: listener.Addr().String(), Key: key, Now: func() time.Time { return testNow }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func readFrame(r io.Reader) ([]byte, error) {
	var length [2]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint16(length[:]))
	_, err := io.ReadFull(r, b)
	return b, err
}

func writeFrame(w io.Writer, b []byte) {
	w.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...))
}

// answerTo makes an answer of records to a request.
func answerTo(t testing.TB, request []byte, records ...string) *dns.Msg {
	t.Helper()
	q := new(dns.Msg)
	if err := q.Unpack(request); err != nil {
		t.Error(err)
	}
	m := new(dns.Msg)
	m.SetReply(q)
	m.Authoritative = true
	for _, text := range records {
		r, err := dns.NewRR(text)
		if err != nil {
			t.Error(err)
		}
		m.Answer = append(m.Answer, r)
	}
	return m
}

const (
	soa1 = "example.org. 60 IN SOA a. b. 1 1 1 1 1"
	soa2 = "example.org. 60 IN SOA a. b. 2 1 1 1 1"
	soa3 = "example.org. 60 IN SOA a. b. 3 1 1 1 1"
	ns   = "example.org. 60 IN NS ns.example.net."
	www  = "www.example.org. 60 IN A 192.0.2.1"
	mail = "mail.example.org. 60 IN A 192.0.2.2"
)

func TestTransfers(t *testing.T) {
	known := &backend.Known{SOA: rr.SOA{MName: name(t, "a."), RName: name(t, "b."), Serial: 1, Refresh: 1, Retry: 1,
		Expire: 1, Minimum: 1, TTL: 60}}
	txn := rr.Sets{}.Txn()
	txn.Put(set(t, "example.org.", rr.TypeNS, "ns.example.net."))
	known.Sets = txn.Sets()
	for _, c := range []struct {
		name     string
		known    *backend.Known
		messages []string // records, by ";"; "!" sets REFUSED
		sets     int      // -1: an error
		serial   uint32
	}{
		{"a zone in one message", nil, []string{soa1 + ";" + ns + ";" + www + ";" + soa1}, 2, 1},
		{"a zone in many messages", nil, []string{soa1, ns, www + ";" + mail, soa1}, 3, 1},
		{"a zone of the SOA alone", nil, []string{soa1 + ";" + soa1}, 0, 1},
		{"signatures are left out", nil, []string{soa1 + ";" + ns + ";example.org. 60 IN NSEC www.example.org. NS;" + soa1},
			1, 1},
		{"a zone that breaks off", nil, []string{soa1 + ";" + ns + ";" + www}, -1, 0},
		{"a zone that breaks off after its first record", nil, []string{soa1}, -1, 0},
		{"nothing at all", nil, nil, -1, 0},
		{"an empty message", nil, []string{""}, -1, 0},
		{"an empty message in between", nil, []string{soa1 + ";" + ns, "", soa1}, -1, 0},
		{"a zone that begins in its middle", nil, []string{ns + ";" + soa1}, -1, 0},
		{"a zone that changes while it is sent", nil, []string{soa1 + ";" + ns + ";" + soa2}, -1, 0},
		{"more than the zone", nil, []string{soa1 + ";" + ns + ";" + soa1 + ";" + www}, -1, 0},
		{"another zone", nil, []string{strings.ReplaceAll(soa1+";"+ns+";"+soa1, "example.org", "example.com")}, -1, 0},
		{"a record from elsewhere", nil, []string{soa1 + ";" + ns + ";www.example.com. 60 IN A 192.0.2.1;" + soa1}, -1, 0},
		{"a refusal in the middle", nil, []string{soa1 + ";" + ns, "!"}, -1, 0},
		{"nothing newer", known, []string{soa1}, 1, 1},
		{"one increment", known, []string{soa2 + ";" + soa1 + ";" + soa2 + ";" + www + ";" + soa2}, 2, 2},
		{"two increments in many messages", known,
			[]string{soa3, soa1 + ";" + soa2, www + ";" + soa2 + ";" + www, soa3 + ";" + mail, soa3}, 2, 3},
		{"the whole zone instead of an increment", known, []string{soa3 + ";" + ns + ";" + www, mail + ";" + soa3}, 3, 3},
		{"an increment from elsewhere", known, []string{soa3 + ";" + soa2 + ";" + soa3 + ";" + www + ";" + soa3}, -1, 0},
		{"an increment that breaks off", known, []string{soa3 + ";" + soa1 + ";" + soa2 + ";" + www + ";" + soa2 + ";" +
			soa3 + ";" + mail}, -1, 0},
		{"an increment that leaves one out", known, []string{soa3 + ";" + soa1 + ";" + soa2 + ";" + www + ";" + soa3}, -1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, key := range []Key{{}, testKey(t)} {
				send := func(request []byte, w io.Writer) { sendMessages(t, key, request, c.messages, w) }
				client := played(t, key, send, send)
				found, err := client.Read(t.Context(), name(t, "example.org."), backend.Ask{Known: c.known})
				if pulled, ok := pull(t, played(t, key, send, send), c.known); ok != (err == nil) ||
					ok && pulled != fmt.Sprint(found.SOA, slices.Collect(found.Sets.All())) {
					t.Errorf("it is pulled as %s, and read as %v (%v)", pulled, found, err)
				}
				if c.sets < 0 {
					if err == nil {
						t.Fatalf("it is read as %v", found)
					}
					if class := backend.Class(err); class != backend.ErrUnavailable && class != backend.ErrNotAuthorised {
						t.Errorf("the class is %s: %v", class, err)
					}
					continue
				}
				if err != nil || found.Sets.Len() != c.sets || found.SOA.Serial != c.serial {
					t.Errorf("it is read as %v with %d sets (%v), want serial %d and %d sets", found.SOA, found.Sets.Len(), err,
						c.serial, c.sets)
				}
			}
		})
	}
}

// pull shows what is pulled, laid over what is known.
func pull(t testing.TB, client *Client, known *backend.Known) (string, bool) {
	t.Helper()
	var soa *rr.SOA
	var sets rr.Sets
	if known != nil {
		soa, sets = &known.SOA, known.Sets
	}
	got, err := client.Pull(t.Context(), name(t, "example.org."), soa)
	if err != nil {
		return err.Error(), false
	}
	last := got.SOA
	for _, step := range got.Steps {
		var fits bool
		if sets, fits = step.Over(sets); !fits {
			t.Errorf("a step does not fit: %v", step)
		}
		last = step.SOA
	}
	if last != got.SOA {
		t.Errorf("the steps lead to %v instead of %v", last, got.SOA)
	}
	if len(got.Steps) == 0 && !got.Same {
		sets = got.Sets
	}
	return fmt.Sprint(got.SOA, slices.Collect(sets.All())), true
}

// sendMessages answers with messages and signs each.
func sendMessages(t testing.TB, key Key, request []byte, messages []string, w io.Writer) {
	sign := newStream(t, key, request)
	for _, text := range messages {
		var records []string
		if text != "" && text != "!" {
			records = strings.Split(text, ";")
		}
		m := answerTo(t, request, records...)
		if text == "!" {
			m.Rcode = dns.RcodeRefused
		}
		writeFrame(w, sign.next(m, true))
	}
}

// A stream signs the messages of a transfer as a server does (RFC 8945 §5.3.1); it was written apart from the verifier.
type stream struct {
	testing.TB
	key      signer
	mac      []byte
	first    bool
	unsigned []byte
}

func newStream(t testing.TB, k Key, request []byte) *stream {
	s, err := newSigner(k)
	if err != nil {
		t.Fatal(err)
	}
	out := &stream{TB: t, key: s, first: true}
	q := new(dns.Msg)
	if q.Unpack(request) == nil && q.IsTsig() != nil {
		out.mac, _ = hex.DecodeString(q.IsTsig().MAC)
	}
	return out
}

// next packs a message, with a signature or without.
func (s *stream) next(m *dns.Msg, signed bool) []byte {
	wire, err := m.Pack()
	if err != nil {
		s.Error(err)
	}
	if !s.key.Signs() || !signed {
		s.unsigned = append(s.unsigned, wire...)
		return wire
	}
	var vars []byte
	timers := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32([]byte{0, 0}, uint32(testNow.Unix())), 300)
	if s.first {
		vars = append(vars, "\x03key\x00\x00\xff\x00\x00\x00\x00\x0bhmac-sha256\x00"...)
	}
	vars = append(vars, timers...)
	if s.first {
		vars = append(vars, 0, 0, 0, 0)
	}
	mac := s.key.MAC([]byte{0, byte(len(s.mac))}, s.mac, s.unsigned, wire, vars)
	s.mac, s.unsigned, s.first = mac, nil, false
	m.Extra = append(m.Extra, &dns.TSIG{
		Hdr: dns.RR_Header{Name: "key.", Rrtype: dns.TypeTSIG, Class: dns.ClassANY}, Algorithm: dns.HmacSHA256,
		TimeSigned: uint64(testNow.Unix()), Fudge: 300, MACSize: uint16(len(mac)), MAC: hex.EncodeToString(mac), OrigId: m.Id,
	})
	if wire, err = m.Pack(); err != nil {
		s.Error(err)
	}
	return wire
}

func TestSignaturesOfTransfers(t *testing.T) {
	hosts := func(n int) (messages []string) {
		messages = append(messages, soa1)
		for i := range n {
			messages = append(messages, fmt.Sprintf("h%d.example.org. 60 IN A 192.0.2.1", i))
		}
		return append(messages, soa1)
	}
	every := func(n int) func(i, last int) bool { return func(i, last int) bool { return i%n == 0 || i == last } }
	for _, c := range []struct {
		name   string
		hosts  int
		signed func(i, last int) bool
		spoil  func(i int, wire []byte) []byte
		ok     bool
	}{
		{name: "every message is signed", hosts: 5, signed: every(1), ok: true},
		{name: "every third message is signed", hosts: 20, signed: every(3), ok: true},
		{name: "every hundredth message is signed", hosts: 250, signed: every(100), ok: true},
		{name: "only the first and last of 101 more", hosts: 100, signed: every(1000)},
		{name: "the first is not signed", hosts: 3, signed: func(i, _ int) bool { return i > 0 }},
		{name: "the last is not signed", hosts: 3, signed: func(i, last int) bool { return i < last }},
		{name: "nothing is signed", hosts: 3, signed: func(int, int) bool { return false }},
		{name: "an unsigned message is changed", hosts: 9, signed: every(4), spoil: func(i int, wire []byte) []byte {
			if i == 2 {
				wire[len(wire)-1]++
			}
			return wire
		}},
		{name: "a signed message is changed", hosts: 9, signed: every(1), spoil: func(i int, wire []byte) []byte {
			if i == 2 {
				wire[20]++
			}
			return wire
		}},
		{name: "a message is left out", hosts: 9, signed: every(4), spoil: func(i int, wire []byte) []byte {
			if i == 2 {
				return nil
			}
			return wire
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := played(t, testKey(t), func(request []byte, w io.Writer) {
				sign := newStream(t, testKey(t), request)
				messages := hosts(c.hosts)
				for i, text := range messages {
					wire := sign.next(answerTo(t, request, text), c.signed(i, len(messages)-1))
					if c.spoil != nil {
						wire = c.spoil(i, wire)
					}
					if wire != nil {
						writeFrame(w, wire)
					}
				}
			})
			found, err := client.Read(t.Context(), name(t, "example.org."), backend.Ask{})
			if c.ok && (err != nil || found.Sets.Len() != c.hosts) {
				t.Errorf("it is read with %d sets: %v", found.Sets.Len(), err)
			}
			if !c.ok && err == nil {
				t.Errorf("it is read with %d sets and no error", found.Sets.Len())
			}
		})
	}
}

func TestAnswersThatAreNotOurs(t *testing.T) {
	batch := backend.Batch{Expect: testSOA(t, 1), SOA: testSOA(t, 2)}
	for what, play := range map[string]func(request []byte, w io.Writer){
		"another id": func(request []byte, w io.Writer) {
			m := answerTo(t, request)
			m.Id++
			writeFrame(w, newStream(t, testKey(t), request).next(m, true))
		},
		"an unsigned yes": func(request []byte, w io.Writer) {
			b, _ := answerTo(t, request).Pack()
			writeFrame(w, b)
		},
		"a question":        func(request []byte, w io.Writer) { writeFrame(w, request) },
		"no DNS at all":     func(_ []byte, w io.Writer) { io.WriteString(w, "HTTP/1.1 400 Bad Request\r\n\r\n") },
		"a message cut off": func(_ []byte, w io.Writer) { w.Write([]byte{0, 12, 1, 2, 3}) },
		"a short message":   func(_ []byte, w io.Writer) { writeFrame(w, []byte{1, 2, 3}) },
	} {
		client := played(t, testKey(t), play, play)
		result, err := client.Apply(t.Context(), name(t, "example.org."), batch)
		if class := backend.Class(err); class != backend.ErrUnavailable && class != backend.ErrNotAuthorised {
			t.Errorf("%s is taken for %v, %v", what, result, err)
		}
	}
}

func TestKeysAreChecked(t *testing.T) {
	good := testKey(t)
	for what, change := range map[string]func(*Key){
		"no name":      func(k *Key) { k.Name = rr.SOA{}.MName },
		"no secret":    func(k *Key) { k.Secret = "" },
		"not base64":   func(k *Key) { k.Secret = "s3cret!" },
		"an algorithm": func(k *Key) { k.Algorithm = "hmac-md5" },
	} {
		key := good
		change(&key)
		_, err := New(Config{Server: "192.0.2.1", Key: key, Now: time.Now})
		if err == nil {
			t.Errorf("a key with %s is taken", what)
		} else if strings.Contains(err.Error(), key.Secret) && key.Secret != "" {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
	for _, shown := range []string{fmt.Sprintf("%v %s", good, good), fmt.Sprintf("%+v", good), fmt.Sprintf("%#v", good)} {
		if strings.Contains(shown, good.Secret) {
			t.Errorf("printing the key shows its secret: %s", shown)
		}
	}
	if _, err := New(Config{Server: "192.0.2.1", Key: Key{}}); err == nil {
		t.Error("a client without a clock is made")
	}
}

// FuzzAnswers lets a server send anything to an AXFR, an IXFR and an UPDATE. Nothing may panic, and no zone be read
// that does not begin and end with its SOA.
func FuzzAnswers(f *testing.F) {
	request := new(dns.Msg)
	request.SetAxfr("example.org.")
	request.Id = 0
	packed, err := request.Pack()
	if err != nil {
		f.Fatal(err)
	}
	for _, records := range [][]string{{soa1, ns, www, soa1}, {soa2, soa1, soa2, www, soa2}, {soa1}, {}} {
		b, err := answerTo(f, packed, records...).Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	zone := name(f, "example.org.")
	known := &backend.Known{SOA: *testSOA(f, 1)}
	f.Fuzz(func(t *testing.T, wire []byte) {
		if body, err := stripTSIG(wire); err == nil && len(body) > len(wire) {
			t.Error("a message grew")
		}
		m := new(dns.Msg)
		if m.Unpack(wire) != nil {
			return
		}
		key, err := newSigner(testKey(t))
		if err != nil {
			t.Fatal(err)
		}
		if v := (verifier{signer: &key, now: func() time.Time { return testNow }}); v.check(wire, m) == nil &&
			m.Rcode == dns.RcodeSuccess {
			t.Error("a signature was guessed")
		}
		q := question{key: rr.Key{Name: zone, Type: rr.TypeSOA}}
		if got, err := q.read(m); err == nil && len(got.set.Data) > 0 {
			_, _ = soaOf(got.set)
		}
		for _, k := range []*backend.Known{nil, known} {
			x := newTransfer(zone, k)
			if x.take(m) != nil || !x.complete {
				continue
			}
			if found, err := x.observed(); err == nil && !found.Unchanged && len(m.Answer) < 2 {
				t.Errorf("%d records are read as a zone", len(m.Answer))
			}
		}
	})
}

func TestContextsEndCalls(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	silent := func([]byte, io.Writer) { <-release }
	client := played(t, testKey(t), silent)
	for _, limited := range []bool{true, false} {
		ctx, cancel := contextFor(t, limited)
		began := time.Now()
		_, err := client.Read(ctx, name(t, "example.org."), backend.Ask{})
		cancel()
		if !errors.Is(err, backend.ErrUnavailable) || time.Since(began) > 10*time.Second {
			t.Errorf("a server that does not answer: %v after %s", err, time.Since(began))
		}
	}
}

// contextFor is one that ends soon, by its deadline or by being cancelled.
func contextFor(t *testing.T, limited bool) (context.Context, context.CancelFunc) {
	if limited {
		return context.WithTimeout(t.Context(), 50*time.Millisecond)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	return ctx, cancel
}
