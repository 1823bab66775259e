package testcluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// An authority is the cluster's own certificate authority. Its key never leaves the cluster's folder.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// frontProxyUser is who the API server says it is when it passes requests on to the servers of APIServices.
const frontProxyUser = "front-proxy-client"

// identity is who a certificate speaks for: Kubernetes reads the user from the common name and groups from the
// organizations.
type identity struct{ user, group string }

// newPKI writes every key and certificate that a cluster needs into dir, as <name>.crt and <name>.key. The servers
// answer on loopback and at the given addresses.
func newPKI(dir string, addresses []net.IP) error {
	ca, err := newAuthority(dir, "ca")
	if err != nil {
		return err
	}
	// who believes the API server's front proxy must not believe everybody
	proxies, err := newAuthority(dir, "front-proxy-ca")
	if err != nil {
		return err
	}
	if err := proxies.issue("front-proxy", identity{user: frontProxyUser}, nil); err != nil {
		return err
	}
	for name, who := range map[string]identity{
		"server":             {user: "kube-apiserver"},
		"admin":              {user: "zonefold-admin", group: "system:masters"},
		"controller-manager": {user: "system:kube-controller-manager"},
		"scheduler":          {user: "system:kube-scheduler"},
		"kubelet":            {user: "system:node:" + nodeName, group: "system:nodes"},
		"kube-proxy":         {user: "system:kube-proxy"},
	} {
		if err := ca.issue(name, who, addresses); err != nil {
			return err
		}
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	return writeKey(filepath.Join(dir, "service-account.key"), key)
}

func newAuthority(dir, name string) (*authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := certificate(identity{user: "zonefold test cluster"})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	ca := &authority{dir: dir, cert: template, key: key}
	if err := ca.sign(name, template, key); err != nil {
		return nil, err
	}
	return ca, nil
}

// issue makes a certificate that serves on loopback and identifies its holder as a client: etcd uses one for both.
func (ca *authority) issue(name string, who identity, addresses []net.IP) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	template := certificate(who)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.IPAddresses = append([]net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, addresses...)
	template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	return ca.sign(name, template, key)
}

func (ca *authority) sign(name string, template *x509.Certificate, key *ecdsa.PrivateKey) error {
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		return fmt.Errorf("signing the certificate of %s: %w", name, err)
	}
	file := filepath.Join(ca.dir, name+".crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return fmt.Errorf("writing a certificate: %w", err)
	}
	return writeKey(filepath.Join(ca.dir, name+".key"), key)
}

func certificate(who identity) *x509.Certificate {
	now := time.Now()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: who.user},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	if who.group != "" {
		c.Subject.Organization = []string{who.group}
	}
	return c
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	return key, nil
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encoding a key: %w", err)
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return fmt.Errorf("writing a key: %w", err)
	}
	return nil
}

// adminClient speaks to the cluster's servers as its administrator.
func adminClient(dir string) (*http.Client, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "admin.crt"), filepath.Join(dir, "admin.key"))
	if err != nil {
		return nil, fmt.Errorf("reading the administrator's certificate: %w", err)
	}
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("reading the cluster's authority: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
			DisableKeepAlives: true, // a restarted server must not be asked over the connection of the one before it
		},
	}, nil
}

// credentials are what a kubeconfig's user proves itself with: a token, or a certificate and key in PEM.
type credentials struct {
	Token       string `json:"token,omitempty"`
	Certificate []byte `json:"client-certificate-data,omitempty"`
	Key         []byte `json:"client-key-data,omitempty"`
}

// writeKubeconfig writes a kubeconfig in JSON, which is YAML as well.
func writeKubeconfig(file, server string, ca []byte, user credentials) error {
	type object = map[string]any
	text, err := json.MarshalIndent(object{
		"apiVersion": "v1", "kind": "Config", "current-context": "zonefold",
		"clusters": []object{{"name": "zonefold", "cluster": object{"server": server, "certificate-authority-data": ca}}},
		"users":    []object{{"name": "user", "user": user}},
		"contexts": []object{{"name": "zonefold", "context": object{"cluster": "zonefold", "user": "user",
			"namespace": "default"}}},
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", file, err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return nil
}
