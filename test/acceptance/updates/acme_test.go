package updates

import (
	"path/filepath"
	"slices"
	"testing"
)

// lego looks itself whether what it has written is there: it asks every name server of the zone, at port 53, which it
// finds by the resolver of its machine. Therefore it gets one of its own.
func TestLegoOrdersACertificate(t *testing.T) {
	p, dir := startPebble(t), t.TempDir()
	write(t, filepath.Join(dir, "resolv.conf"), "nameserver "+here.host+"\n")
	said := shell(t, dir, `mount --bind resolv.conf /etc/resolv.conf
export LEGO_CA_CERTIFICATES=`+p.authority+`
lego() { command lego --server `+p.directory+` --path . --dns.resolvers `+here.address()+` "$@"; }
`+example(t, "lego", "sh"))
	if got := names(t, filepath.Join(dir, "certificates", "www.example.org.crt")); !slices.Equal(got,
		[]string{"www.example.org"}) {
		t.Errorf("the certificate is for %q\n%s", got, said)
	}
	nothingIsLeft(t, "acme", said)
}

// A name and all below it are proven by two texts at one name.
func TestCertbotOrdersACertificateForANameAndAllBelowIt(t *testing.T) {
	p, dir := startPebble(t), t.TempDir()
	write(t, filepath.Join(dir, "rfc2136.ini"), example(t, "certbot", "ini"))
	said := shell(t, dir, `export REQUESTS_CA_BUNDLE=`+p.authority+`
certbot() { command certbot "$@" --server `+p.directory+` --config-dir . --work-dir . --logs-dir . --non-interactive; }
`+example(t, "certbot", "sh"))
	got := names(t, filepath.Join(dir, "live", "example.org", "cert.pem"))
	slices.Sort(got)
	if !slices.Equal(got, []string{"*.example.org", "example.org"}) {
		t.Errorf("the certificate is for %q\n%s", got, said)
	}
	nothingIsLeft(t, "acme", said)
}
