package bind9

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // hmac-sha1 is of RFC 8945, section 6
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"strings"
)

// Algorithm is how a key signs. named knows more, and all of them that are missing here are MD5.
type Algorithm string

// The algorithms of RFC 8945 §6 that BIND takes for rndc, updates and transfers.
const (
	SHA1   Algorithm = "hmac-sha1"
	SHA224 Algorithm = "hmac-sha224"
	SHA256 Algorithm = "hmac-sha256"
	SHA384 Algorithm = "hmac-sha384"
	SHA512 Algorithm = "hmac-sha512"
)

// secretOctets is the length of the secrets that Generate makes; leastSecret is what RFC 2104 §3 would still call a key
// and maxSecret what no honest key exceeds.
const (
	secretOctets = 32
	leastSecret  = 16
	maxSecret    = 512
)

// ParseAlgorithm reads an algorithm's name as people write it: in either case, with or without "hmac-".
func ParseAlgorithm(text string) (Algorithm, error) {
	name := strings.ToLower(strings.TrimSuffix(text, "."))
	a := Algorithm("hmac-" + strings.TrimPrefix(name, "hmac-"))
	if a.hash() == nil {
		if strings.Contains(name, "md5") {
			return "", errors.New("the algorithm is MD5, which is broken; use hmac-sha256")
		}
		return "", fmt.Errorf(
			"the algorithm %s is unknown; use hmac-sha256, or hmac-sha1, hmac-sha224, hmac-sha384, hmac-sha512",
			quoteShort(text))
	}
	return a, nil
}

func (a Algorithm) hash() func() hash.Hash {
	switch a {
	case SHA1:
		return sha1.New
	case SHA224:
		return sha256.New224
	case SHA256:
		return sha256.New
	case SHA384:
		return sha512.New384
	case SHA512:
		return sha512.New
	}
	return nil
}

// A Key is a shared secret with a name (RFC 8945). However it is printed, the secret does not show.
type Key struct {
	Name      string
	Algorithm Algorithm
	Secret    string // base64 (RFC 4648 §4)
}

// Generate makes a key with 32 octets of the given randomness.
func Generate(rand io.Reader, name string, algorithm Algorithm) (Key, error) {
	secret := make([]byte, secretOctets)
	if _, err := io.ReadFull(rand, secret); err != nil {
		return Key{}, fmt.Errorf("making the key %s: reading randomness: %w", quoteShort(name), err)
	}
	k := Key{Name: name, Algorithm: algorithm, Secret: base64.StdEncoding.EncodeToString(secret)}
	return k, k.Validate()
}

// Validate says what keeps BIND, or us, from using the key.
func (k Key) Validate() error {
	if err := checkName("key name", k.Name); err != nil {
		return err
	}
	if k.Algorithm.hash() == nil {
		_, err := ParseAlgorithm(string(k.Algorithm))
		if err == nil {
			err = fmt.Errorf("the algorithm is not written as %q",
				"hmac-"+strings.TrimPrefix(strings.ToLower(string(k.Algorithm)), "hmac-"))
		}
		return fmt.Errorf("the key %q cannot be used: %w", k.Name, err)
	}
	_, err := k.octets()
	return err
}

// octets is the secret itself. The decoder's own message would tell a part of it.
func (k Key) octets() ([]byte, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(k.Secret)
	switch {
	case err != nil || strings.ContainsAny(k.Secret, "\r\n"):
		return nil, fmt.Errorf(
			"the secret of the key %q is not base64; write the octets as `openssl rand -base64 32` does, in one line", k.Name)
	case len(b) < leastSecret:
		return nil, fmt.Errorf("the secret of the key %q has %d octets, fewer than %d, and could be guessed; make one with "+
			"`openssl rand -base64 32`", k.Name, len(b), leastSecret)
	case len(b) > maxSecret:
		return nil,
			fmt.Errorf("the secret of the key %q has %d octets, more than %d; make one with `openssl rand -base64 32`", k.Name,
				len(b), maxSecret)
	}
	return b, nil
}

// sign returns the message authentication code of data.
func (k Key) sign(data []byte) ([]byte, error) {
	secret, err := k.octets()
	if err != nil {
		return nil, err
	}
	mac := hmac.New(k.Algorithm.hash(), secret)
	mac.Write(data)
	return mac.Sum(nil), nil
}

// ID tells keys apart that have the same name, and tells nothing of the secret.
func (k Key) ID() string {
	mac, err := k.sign([]byte("zonefold key " + strings.ToLower(k.Name) + " " + string(k.Algorithm)))
	if err != nil {
		return ""
	}
	return hex.EncodeToString(mac[:8])
}

// String names the key, without its secret.
func (k Key) String() string { return fmt.Sprintf("key %q (%s)", k.Name, k.Algorithm) }

// Format prints String whatever the verb: %+v and %#v would show the fields.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// LogValue is String, for slog.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalJSON is String too: keys go to files as RenderKeys writes them, never as JSON.
func (k Key) MarshalJSON() ([]byte, error) { return json.Marshal(k.String()) }

// RenderKeys writes key statements as named.conf, rndc.conf and nsupdate's key files take them. An unusable key is an
// error.
func RenderKeys(keys ...Key) (string, error) {
	var b strings.Builder
	for _, k := range keys {
		if err := k.Validate(); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "key \"%s\" {\n\talgorithm %s;\n\tsecret \"%s\";\n};\n", k.Name, k.Algorithm, k.Secret)
	}
	return b.String(), nil
}
