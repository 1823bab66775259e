package updates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// A pebble is Let's Encrypt's server for tests. Its checks ask our name server.
type pebble struct {
	directory string // where clients begin
	authority string // a file with the certificate that its own is signed with
}

// startPebble runs Pebble until the test ends.
func startPebble(t *testing.T) pebble {
	t.Helper()
	dir, listen := t.TempDir(), freeAddress(t)
	p := pebble{directory: "https://" + listen + "/dir", authority: filepath.Join(dir, "cert.pem")}
	selfSigned(t, p.authority, filepath.Join(dir, "key.pem"))
	config := filepath.Join(dir, "config.json")
	write(t, config, fmt.Sprintf(`{"pebble": {"listenAddress": %q, "managementListenAddress": %q, "certificate": %q,
		"privateKey": %q, "httpPort": 5002, "tlsPort": 5001}}`, listen, freeAddress(t), p.authority,
		filepath.Join(dir, "key.pem")))
	var log testoperator.Journal
	cmd := exec.CommandContext(t.Context(), "pebble", "-config", config, "-dnsserver", here.address())
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
	startProgram(t, cmd, &log)
	certificate, err := os.ReadFile(p.authority)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(certificate) {
		t.Fatal("the certificate cannot be read", err)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	eventually(t, "Pebble", func() string {
		answer, err := client.Get(p.directory)
		if err != nil {
			return err.Error()
		}
		_ = answer.Body.Close()
		return ""
	})
	return p
}

// startProgram runs a program until the test ends, and shows what it said if the test fails.
func startProgram(t *testing.T, cmd *exec.Cmd, log *testoperator.Journal) {
	t.Helper()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); !errors.As(err, new(*exec.ExitError)) {
			t.Errorf("%s: %v", cmd.Path, err)
		}
		if t.Failed() {
			t.Logf("%s says\n%s", cmd.Path, log)
		}
	})
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// selfSigned makes a certificate for loopback.
func selfSigned(t *testing.T, certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "pebble"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write(t, certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})))
	write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded})))
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// names returns what a certificate that a client has stored is for.
func names(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatalf("%s holds no certificate", file)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate.DNSNames
}
