package dnshook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"time"
)

// The headers of a signed request.
const (
	HeaderTimestamp = "X-DNS-Timestamp"
	HeaderNonce     = "X-DNS-Nonce"
	HeaderSignature = "X-DNS-Signature"
)

// Window is how far the clocks of the two ends may differ: a request that was signed longer ago, or later, is refused.
const Window = 5 * time.Minute

// An Algorithm is a hash function by its name in a DNSClass.
type Algorithm string

// The algorithms. "" is SHA256.
const (
	SHA256 Algorithm = "SHA256"
	SHA512 Algorithm = "SHA512"
)

func (a Algorithm) hash() (func() hash.Hash, error) {
	switch a {
	case "", SHA256:
		return sha256.New, nil
	case SHA512:
		return sha512.New, nil
	}
	return nil, fmt.Errorf("there is no algorithm %q; use SHA256 or SHA512", string(a))
}

// A Key is a secret that both ends share. Its octets count as they are: a line feed at the end of a file is one of
// them.
type Key struct {
	Secret    []byte
	Algorithm Algorithm
}

// MinSecret is how many octets a secret has at least: whoever sees one signed request can try all shorter ones (RFC
// 2104 §3).
const MinSecret = 16

// Validate says what is wrong with a key, nil if it can be used.
func (k Key) Validate() error {
	switch n := len(k.Secret); {
	case n == 0:
		return errors.New("the secret is empty, so anyone could sign with it")
	case n < MinSecret:
		return fmt.Errorf(
			"the secret has %d octets, fewer than %d, and could be guessed; make one with `openssl rand -hex 32`, for both ends",
			n, MinSecret)
	}
	_, err := k.Algorithm.hash()
	return err
}

// A Message is what of a request is signed.
type Message struct {
	Method    string
	Path      string // as in the request line, without the query
	Timestamp string // RFC 3339
	Nonce     string
	Body      []byte // nil and empty: there is none
}

// sum is the MAC over method, path, timestamp, nonce and, if there is one, the body, each but the last followed by a
// line feed.
func (k Key) sum(m Message) ([]byte, error) {
	h, err := k.Algorithm.hash()
	if err != nil {
		return nil, err
	}
	mac := hmac.New(h, k.Secret)
	fmt.Fprintf(mac, "%s\n%s\n%s\n%s", m.Method, m.Path, m.Timestamp, m.Nonce)
	if len(m.Body) > 0 {
		mac.Write([]byte{'\n'})
		mac.Write(m.Body)
	}
	return mac.Sum(nil), nil
}

// Sign returns the signature of a message, in lower-case hexadecimal digits.
func (k Key) Sign(m Message) (string, error) {
	sum, err := k.sum(m)
	return hex.EncodeToString(sum), err
}

// signs reports whether a signature is the message's, in a time that does not depend on where they differ. Where there
// is no body, the line feed that separates it may be there all the same: the words of the protocol can be read so, and
// no other message has that text.
func (k Key) signs(m Message, signature string) bool {
	got, err := hex.DecodeString(signature)
	if err != nil {
		return false
	}
	want, err := k.sum(m)
	if err != nil || hmac.Equal(got, want) || len(m.Body) > 0 {
		return err == nil && hmac.Equal(got, want)
	}
	m.Nonce += "\n"
	want, err = k.sum(m)
	return err == nil && hmac.Equal(got, want)
}

// NewNonce returns a random UUID (RFC 9562, version 4).
func NewNonce() string {
	var b [16]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// SignRequest puts the three headers into a request whose URL and method are set. Each attempt has a nonce of its own:
// a request that is sent twice is a replay.
func (k Key) SignRequest(r *http.Request, body []byte, now time.Time, nonce string) error {
	m := Message{Method: r.Method, Path: r.URL.EscapedPath(), Timestamp: now.UTC().Format(time.RFC3339), Nonce: nonce,
		Body: body}
	signature, err := k.Sign(m)
	if err != nil {
		return err
	}
	r.Header.Set(HeaderTimestamp, m.Timestamp)
	r.Header.Set(HeaderNonce, m.Nonce)
	r.Header.Set(HeaderSignature, signature)
	return nil
}
