package admission

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
)

// Clients says who may ask for reviews: whoever has a certificate of an authority, in one of some names. A cluster's
// authority signs certificates for many others, too.
type Clients struct {
	authorities *x509.CertPool
	names       []string // common or alternative; none: any name will do
}

// NewClients reads authorities in PEM.
func NewClients(pem []byte, names []string) (Clients, error) {
	c := Clients{authorities: x509.NewCertPool(), names: names}
	if !c.authorities.AppendCertsFromPEM(pem) {
		return c, errors.New("the file with the CAs of clients contains no PEM certificate")
	}
	return c, nil
}

// Require has a server refuse others before they have sent anything.
func (c Clients) Require(server *tls.Config) {
	server.ClientAuth, server.ClientCAs = tls.RequireAndVerifyClientCert, c.authorities
	server.VerifyConnection = c.verify
}

// verify looks at the name in a certificate that is valid.
func (c Clients) verify(state tls.ConnectionState) error {
	if len(c.names) == 0 {
		return nil
	}
	if len(state.PeerCertificates) == 0 {
		return errors.New("the client sent no certificate")
	}
	cert := state.PeerCertificates[0]
	for _, name := range append([]string{cert.Subject.CommonName}, cert.DNSNames...) {
		if slices.Contains(c.names, name) {
			return nil
		}
	}
	return fmt.Errorf(
		"the certificate of %q does not belong to a client that may ask for reviews", cert.Subject.CommonName)
}
