package admission

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"
)

// Keys of the Secret.
const (
	keyCertificate     = "tls.crt" // what is served with
	keyPrivate         = "tls.key"
	keyNextCertificate = "next.crt" // what is served with next, once everybody trusts it
	keyNextPrivate     = "next.key"
	keyTrusted         = "ca.crt" // what is trusted: the one before, the one that is served with, and the next
)

// A Policy says what certificates are like. Each is its own authority, so that there is no key that could sign others.
type Policy struct {
	Names    []string      // DNS names and IP addresses of the server; the first one goes into the subject
	Lifetime time.Duration // of one certificate
	Rand     io.Reader
}

// A certificate is replaced when a third of its life is left. Its successor is trusted for a thirtieth of a life before
// it is served with, and it is itself trusted until its end, so that no API server that is slow to hear of either
// refuses what it is shown.
func (p Policy) renewal() time.Duration  { return p.Lifetime * 2 / 3 }
func (p Policy) settling() time.Duration { return p.Lifetime / 30 }

// skew is how far the clock of an API server may be behind.
const skew = time.Hour

// Advance returns what the Secret should hold at a time, given what it holds, and when to look at it again.
func (p Policy) Advance(data map[string][]byte, now time.Time) (map[string][]byte, time.Time, error) {
	current, err := p.usable(data[keyCertificate], data[keyPrivate], now)
	if err != nil { // the first one, or somebody has spoilt it
		cert, key, err := p.issue(now)
		if err != nil {
			return nil, time.Time{}, err
		}
		return map[string][]byte{keyCertificate: cert, keyPrivate: key, keyTrusted: cert}, now.Add(p.renewal()), nil
	}
	out := map[string][]byte{keyCertificate: data[keyCertificate], keyPrivate: data[keyPrivate]}
	next, err := p.usable(data[keyNextCertificate], data[keyNextPrivate], now)
	var again time.Time
	var before []byte // what was served with before that
	switch due := p.born(current).Add(p.renewal()); {
	case err == nil && !now.Before(p.born(next).Add(p.settling())):
		before = data[keyCertificate]
		out[keyCertificate], out[keyPrivate] = data[keyNextCertificate], data[keyNextPrivate]
		again = p.born(next).Add(p.renewal())
	case err == nil:
		out[keyNextCertificate], out[keyNextPrivate] = data[keyNextCertificate], data[keyNextPrivate]
		again = p.born(next).Add(p.settling())
	case !now.Before(due):
		if out[keyNextCertificate], out[keyNextPrivate], err = p.issue(now); err != nil {
			return nil, time.Time{}, err
		}
		again = now.Add(p.settling())
	default:
		again = due
	}
	out[keyTrusted] = trusted(now, out[keyCertificate], out[keyNextCertificate], before, data[keyTrusted])
	return out, again, nil
}

// born is when a certificate was made.
func (p Policy) born(c *x509.Certificate) time.Time { return c.NotBefore.Add(skew) }

// usable reads a certificate with its key, and says why it cannot be served with.
func (p Policy) usable(cert, key []byte, now time.Time) (*x509.Certificate, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate: %w", err)
	}
	if now.After(pair.Leaf.NotAfter) {
		return nil, errors.New("the certificate is too old")
	}
	for _, name := range p.Names {
		if err := pair.Leaf.VerifyHostname(name); err != nil {
			return nil, fmt.Errorf("the certificate belongs to another server: %w", err)
		}
	}
	return pair.Leaf, nil
}

// issue makes a certificate and its key.
func (p Policy) issue(now time.Time) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), p.Rand)
	if err != nil {
		return nil, nil, fmt.Errorf("making a key for admission: %w", err)
	}
	serial := make([]byte, 16)
	if _, err := io.ReadFull(p.Rand, serial); err != nil {
		return nil, nil, fmt.Errorf("making a serial number for a certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial), Subject: pkix.Name{CommonName: p.Names[0]},
		NotBefore: now.Add(-skew), NotAfter: now.Add(p.Lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, name := range p.Names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(p.Rand, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, fmt.Errorf("making a certificate for admission: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("writing a key for admission: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil
}

// trusted joins certificates, each once and as long as it lasts.
func trusted(now time.Time, lists ...[]byte) []byte {
	var out []byte
	for _, list := range lists {
		for block, rest := pem.Decode(list); block != nil; block, rest = pem.Decode(rest) {
			text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes})
			cert, err := x509.ParseCertificate(block.Bytes)
			if err == nil && now.Before(cert.NotAfter) && !bytes.Contains(out, text) {
				out = append(out, text...)
			}
		}
	}
	return out
}
