package check

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/cli/command"
)

// TestOfABundleTheNewestCertificateCounts looks at certificates of 90 days, by when they end.
func TestOfABundleTheNewestCertificateCounts(t *testing.T) {
	const day = 24 * time.Hour
	noon := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	certificate := func(ends time.Duration) []byte {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: noon.Add(ends - 90*day), NotAfter: noon.Add(ends)}
		der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	for _, c := range []struct {
		name string
		ends []time.Duration
		want []string // severities
	}{
		{"one that lasts", []time.Duration{30 * day}, nil},
		{"one that ends soon, and was not renewed", []time.Duration{3 * day}, []string{doctorWarning}},
		{"one that has ended", []time.Duration{-day}, []string{doctorError}},
		{"one that ends soon, after its successor", []time.Duration{60 * day, 3 * day}, nil},
		{"one that has ended, before its successor", []time.Duration{-day, 60 * day}, nil},
		{"two that have ended", []time.Duration{-2 * day, -day}, []string{doctorError}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var bundle []byte
			for _, ends := range c.ends {
				bundle = append(bundle, certificate(ends)...)
			}
			d := &doctor{env: command.Env{Now: noon}}
			d.certificate("it", newest(bundle))
			var got []string
			for _, f := range d.findings {
				got = append(got, f.Severity)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("it finds %v", d.findings)
			}
		})
	}
	t.Run("what is no certificate is told of", func(t *testing.T) {
		d := &doctor{env: command.Env{Now: noon}}
		d.certificate("it", newest(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("none")})))
		if len(d.findings) != 1 {
			t.Errorf("it finds %v", d.findings)
		}
	})
}
