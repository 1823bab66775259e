package rfc2136

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
)

func notAuthorised(words string, err error) error {
	return &backend.Error{Class: backend.ErrNotAuthorised, Words: words, Err: err}
}

func unavailable(err error) error { return &backend.Error{Class: backend.ErrUnavailable, Err: err} }

// unauthenticated is about the key, and not about what its holder may do.
func unauthenticated(words string, err error) error {
	return &backend.Error{Class: backend.ErrNotAuthorised, Cause: backend.CauseUnauthenticated, Words: words, Err: err}
}

// tsigError says what a server found wrong with our signature (RFC 8945 §5.2).
func tsigError(t *dns.TSIG, key *signer, now time.Time) error {
	switch t.Error {
	case dns.RcodeBadKey:
		return unauthenticated("BADKEY", fmt.Errorf(
			"the server does not know key %s with algorithm %s; add the key to the server, or name one that it "+
				"has", called(key.Name()),
			called(key.Algorithm())))
	case dns.RcodeBadSig:
		return unauthenticated("BADSIG", fmt.Errorf(
			"the server has another secret for key %s; use the same secret on both sides",
			called(key.Name())))
	case dns.RcodeBadTime:
		err := errors.New("the server's clock differs from the operator's")
		if other, e := hex.DecodeString(t.OtherData); e == nil && len(other) == 6 {
			theirs := int64(binary.BigEndian.Uint16(other))<<32 | int64(binary.BigEndian.Uint32(other[2:]))
			err = fmt.Errorf("%w by %d seconds", err, theirs-now.Unix())
		}
		return unauthenticated("BADTIME", fmt.Errorf("%w; set both by NTP", err))
	}
	return unauthenticated(rcodeName(int(t.Error)), fmt.Errorf(
		"the server rejects the signature of key %s; see its log", called(key.Name())))
}

// called is a name of a key or an algorithm as configurations have it, without the dot at its end.
func called(name string) string { return strings.TrimSuffix(name, ".") }

// errPrerequisite says that the zone is not as the UPDATE expected (RFC 2136 §2.2).
var errPrerequisite = errors.New("a prerequisite was not met")

// errPolicy says that the server refused an UPDATE (RFC 2136 §3.3): either all from us, or something in this one.
var errPolicy = errors.New("the server refused")

// updateError gives the answer to an UPDATE a class (RFC 2136 §2.2, §3.8). Only a zone that is not there, or a server
// that takes no updates at all, keeps every batch from being applied; everything else may be one record's fault.
func updateError(rcode int) error {
	words := rcodeName(rcode)
	switch rcode {
	case dns.RcodeSuccess:
		return nil
	case dns.RcodeNXRrset, dns.RcodeYXRrset, dns.RcodeNameError, dns.RcodeYXDomain:
		return errPrerequisite
	case dns.RcodeRefused:
		return errPolicy
	case dns.RcodeNotAuth:
		return &backend.Error{Class: backend.ErrNoZone, Words: words, Err: errors.New(
			"the server is not a primary of the zone; create the zone there, or name its primary")}
	case dns.RcodeNotImplemented:
		return notAuthorised(words, errors.New(
			"the server accepts no dynamic updates; enable them there, or name another server"))
	case dns.RcodeServerFailure:
		return &backend.Error{Class: backend.ErrRejected, Words: words, Temporary: true}
	case dns.RcodeFormatError, dns.RcodeNotZone:
		return &backend.Error{Class: backend.ErrRejected, Words: words}
	}
	return &backend.Error{Class: backend.ErrUnavailable, Words: words}
}

// denied finds out whether NOTAUTH means a zone that is not there. Knot says it also to those who may not write or
// read.
func (c *Client) denied(ctx context.Context, zone dnsname.Name, err error) error {
	if !errors.Is(err, backend.ErrNoZone) {
		return err
	}
	ask := c.talk(ctx, reading, func(link *conn) error {
		_, err := c.soa(link, zone)
		return err
	})
	if ask != nil {
		return err
	}
	return notAuthorised(rcodeName(dns.RcodeNotAuth), errors.New(
		"the server does not let the key update or transfer the zone; allow both there"))
}

// readError gives the answer to a transfer or a query a class.
func readError(rcode int) error {
	words := rcodeName(rcode)
	switch rcode {
	case dns.RcodeSuccess:
		return nil
	case dns.RcodeNotAuth:
		return &backend.Error{Class: backend.ErrNoZone, Words: words, Err: errors.New(
			"the server does not have the zone; create it there")}
	case dns.RcodeRefused:
		return notAuthorised(words, errors.New(
			"the server does not have the zone, or does not let the key read it; create the zone there, or allow the key to "+
				"transfer it"))
	}
	return &backend.Error{Class: backend.ErrUnavailable, Words: words}
}

func rcodeName(rcode int) string {
	if name, ok := dns.RcodeToString[rcode]; ok {
		return name
	}
	return fmt.Sprintf("RCODE%d", rcode)
}
