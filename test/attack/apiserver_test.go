package attack

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// reviewClient is the name in the certificate that the API server shows to webhooks.
const reviewClient = "kube-apiserver"

// A credential is a certificate with its key, in PEM.
type credential struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// certify makes a certificate with a name, signed by another one or by itself.
func certify(name string, by *credential) (*credential, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour),
		IsCA:     by == nil, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &credential{cert, key}, err
}

// write puts a credential into files of a folder.
func (c *credential) write(dir, name string) error {
	key, err := x509.MarshalECPrivateKey(c.key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name+".key"),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: key}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".crt"),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.cert.Raw}), 0o600)
}

// admissionFlags has the API server show a certificate to webhooks, as docs/admission.md says, and writes what is
// needed for that into a folder, with the authority as ca.crt.
func admissionFlags(dir string) ([]string, error) {
	authority, err := certify("the authority of a test", nil)
	if err != nil {
		return nil, err
	}
	client, err := certify(reviewClient, authority)
	if err != nil {
		return nil, err
	}
	for name, c := range map[string]*credential{"ca": authority, "webhooks": client} {
		if err := c.write(dir, name); err != nil {
			return nil, err
		}
	}
	for name, text := range map[string]string{
		"webhooks.kubeconfig": `
apiVersion: v1
kind: Config
users:
  - name: "*"
    user: {client-certificate: %[1]s/webhooks.crt, client-key: %[1]s/webhooks.key}
`,
		"admission.yaml": `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
  - name: ValidatingAdmissionWebhook
    configuration:
      apiVersion: apiserver.config.k8s.io/v1
      kind: WebhookAdmissionConfiguration
      kubeConfigFile: %[1]s/webhooks.kubeconfig
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, text, dir), 0o600); err != nil {
			return nil, err
		}
	}
	return []string{"--admission-control-config-file=" + filepath.Join(dir, "admission.yaml")}, nil
}
