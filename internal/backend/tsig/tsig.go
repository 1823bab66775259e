// Package tsig makes the signatures of DNS messages (TSIG, RFC 8945): what a key is, and what of a message and of its
// TSIG record goes into the MAC. Who signs and who verifies what is decided where messages are sent and taken.
package tsig

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // hmac-sha1 is of RFC 8945, section 6
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// A Key is a TSIG key. Its secret is in no error and no log.
type Key struct {
	Name      dnsname.Name
	Algorithm string // one of Algorithms; "" is hmac-sha256
	Secret    string // base64, as in the server's configuration
}

// Algorithms are the names of the algorithms that a Key may have.
func Algorithms() []string {
	return []string{"hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512"}
}

// String names the key without its secret.
func (k Key) String() string { return k.Name.String() + " (" + k.Algorithm + ")" }

// GoString keeps the secret out of %#v.
func (k Key) GoString() string { return "tsig.Key{" + k.String() + "}" }

// Fudge is how many seconds the clocks of client and server may differ (RFC 8945 §10).
const Fudge = 300

// A Signer is a Key that is ready for use; the zero Signer signs nothing.
type Signer struct {
	name      string // canonical
	algorithm string // with its final dot
	names     []byte // both in wire format, one after the other
	nameSize  int    // of the first
	secret    []byte
	hash      func() hash.Hash
}

// NewSigner makes a key ready for use, of the zero Key the zero Signer.
func NewSigner(k Key) (Signer, error) {
	if k.Name.IsZero() {
		if k.Secret != "" {
			return Signer{}, errors.New("it has a secret but no name")
		}
		return Signer{}, nil
	}
	s := Signer{name: k.Name.String()}
	switch strings.TrimSuffix(strings.ToLower(k.Algorithm), ".") {
	case "hmac-sha1": // for keys that a BIND fleet has already; none of Algorithms
		s.algorithm, s.hash = dns.HmacSHA1, sha1.New
	case "hmac-sha224":
		s.algorithm, s.hash = dns.HmacSHA224, sha256.New224
	case "", "hmac-sha256":
		s.algorithm, s.hash = dns.HmacSHA256, sha256.New
	case "hmac-sha384":
		s.algorithm, s.hash = dns.HmacSHA384, sha512.New384
	case "hmac-sha512":
		s.algorithm, s.hash = dns.HmacSHA512, sha512.New
	default:
		return Signer{}, fmt.Errorf("algorithm %q is not one of %s", k.Algorithm, strings.Join(Algorithms(), ", "))
	}
	var err error
	if s.secret, err = backend.TSIGSecret(k.Secret); err != nil {
		return Signer{}, err
	}
	algorithm, err := dnsname.Parse(s.algorithm)
	if err != nil {
		return Signer{}, err
	}
	s.names = k.Name.AppendWire(nil)
	s.nameSize = len(s.names)
	s.names = algorithm.AppendWire(s.names)
	return s, nil
}

// Signs reports whether there is a key.
func (s *Signer) Signs() bool { return s.hash != nil }

// Name returns the key's name.
func (s *Signer) Name() string { return s.name }

// Algorithm returns the name of the key's algorithm, with its final dot.
func (s *Signer) Algorithm() string { return s.algorithm }

// Wire returns the names of the key and of its algorithm in wire format, in lower case.
func (s *Signer) Wire() (name, algorithm []byte) { return s.names[:s.nameSize], s.names[s.nameSize:] }

// Equal reports whether two signers make the same signatures.
func (s *Signer) Equal(o *Signer) bool {
	return s.name == o.name && s.algorithm == o.algorithm && hmac.Equal(s.secret, o.secret)
}

// Size is how many octets a MAC has.
func (s *Signer) Size() int { return s.hash().Size() }

// MAC signs what is made of parts.
func (s *Signer) MAC(parts ...[]byte) []byte {
	h := hmac.New(s.hash, s.secret)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// A Stamp is what of a TSIG record is signed besides names.
type Stamp struct {
	Time  uint64 // seconds since 1970, of which 48 bits count
	Fudge uint16 // seconds
	Error uint16
	Other []byte
}

// AppendVariables appends what of a TSIG record goes into the MAC (RFC 8945 §4.3.3).
func (s *Signer) AppendVariables(b []byte, t Stamp) []byte {
	name, algorithm := s.Wire()
	b = append(b, name...)
	b = binary.BigEndian.AppendUint16(b, dns.ClassANY)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = append(b, algorithm...)
	b = t.AppendTimers(b)
	b = binary.BigEndian.AppendUint16(b, t.Error)
	b = binary.BigEndian.AppendUint16(b, uint16(len(t.Other)))
	return append(b, t.Other...)
}

// AppendTimers appends what is signed instead in a stream after its first message (RFC 8945 §5.3.1).
func (t Stamp) AppendTimers(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(t.Time>>32))
	b = binary.BigEndian.AppendUint32(b, uint32(t.Time))
	return binary.BigEndian.AppendUint16(b, t.Fudge)
}
