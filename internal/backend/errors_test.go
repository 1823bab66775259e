package backend

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"
)

func TestAnErrorIsTheSameAtEachTry(t *testing.T) {
	for _, c := range []struct {
		sentence string
		err      error
		want     string
	}{
		{"a connection has another port", &net.OpError{Op: "read", Net: "tcp",
			Source: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 40912},
			Addr:   &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 53}, Err: errors.New("connection reset by peer")},
			"read tcp 10.0.0.2:53: connection reset by peer"},
		{"so has one of IPv6", &net.OpError{Op: "write", Net: "tcp",
			Source: &net.TCPAddr{IP: net.IPv6loopback, Port: 40912},
			Addr:   &net.TCPAddr{IP: net.IPv6loopback, Port: 53}, Err: errors.New("broken pipe")},
			"write tcp [::1]:53: broken pipe"},
		{"and a question for an address", &net.DNSError{Err: "read udp 10.0.0.1:41520->10.96.0.10:53: i/o timeout",
			Name: "pdns.example.org", Server: "10.96.0.10:53"},
			"lookup pdns.example.org on 10.96.0.10:53: read udp 10.96.0.10:53: i/o timeout"},
		{"a certificate is looked at at another time", x509.CertificateInvalidError{Reason: x509.Expired,
			Detail: "current time 2026-11-30T01:31:19Z is after 2025-01-01T00:00:00Z"},
			"x509: certificate has expired or is not yet valid: the time is after 2025-01-01T00:00:00Z"},
	} {
		err := fmt.Errorf("reading the zone: %w", &Error{Class: ErrUnavailable, Err: c.err})
		if want := "reading the zone: unavailable: " + c.want; err.Error() != want {
			t.Errorf("%s: it says %q, want %q", c.sentence, err, want)
		}
	}
}

func TestPause(t *testing.T) {
	for _, c := range []struct {
		sentence string
		err      error
		want     time.Duration
	}{
		{"a server that says nothing", fmt.Errorf("sending: %w", ErrThrottled), 0},
		{"a server that asks for a pause", fmt.Errorf("sending: %w", &Error{Class: ErrThrottled, After: time.Minute}),
			time.Minute},
		{"a server that asks for years", &Error{Class: ErrThrottled, After: 1<<31*time.Second - 1}, 15 * time.Minute},
	} {
		if got := Pause(c.err); got != c.want {
			t.Errorf("%s has %v, want %v", c.sentence, got, c.want)
		}
	}
}
