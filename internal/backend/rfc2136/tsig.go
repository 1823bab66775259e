package rfc2136

import (
	"crypto/hmac"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend/tsig"
)

// A Key is a TSIG key (RFC 8945).
type Key = tsig.Key

// A signer signs requests and verifies the answers; the zero signer signs nothing.
type signer struct{ tsig.Signer }

func newSigner(k Key) (signer, error) {
	s, err := tsig.NewSigner(k)
	return signer{s}, err
}

// Generate and Verify make the signer a dns.TsigProvider for one message.
func (s *signer) Generate(msg []byte, _ *dns.TSIG) ([]byte, error) { return s.MAC(msg), nil }

// Verify is unused: answers are verified by a verifier, which knows streams.
func (s *signer) Verify([]byte, *dns.TSIG) error { return dns.ErrSig }

// pack returns the message in wire format, signed if there is a key, and its MAC.
func (s *signer) pack(m *dns.Msg, now time.Time) (wire, mac []byte, err error) {
	if !s.Signs() {
		wire, err = m.Pack()
		return wire, nil, err
	}
	m.SetTsig(s.Name(), s.Algorithm(), tsig.Fudge, now.Unix())
	wire, text, err := dns.TsigGenerateWithProvider(m, s, "", false)
	if err != nil {
		return nil, nil, err
	}
	mac, err = hex.DecodeString(text)
	return wire, mac, err
}

// A verifier checks the answer to one signed request: one message or a stream of them (RFC 8945 §5.3.1), of which the
// first and the last, and at least every hundredth, is signed.
type verifier struct {
	*signer
	mac      []byte // of the request, then of the last signed message
	now      func() time.Time
	streamed bool   // the first message has been seen
	unsigned []byte // messages since the last signed one
	count    int    // how many they are
}

// maxUnsigned is how many messages of a stream may follow each other without a signature.
const maxUnsigned = 99

// check verifies one message, given parsed and as it came.
func (v *verifier) check(wire []byte, m *dns.Msg) error {
	if !v.Signs() {
		return nil
	}
	t := m.IsTsig()
	if t == nil {
		return v.skip(wire, m)
	}
	if t.Error == dns.RcodeBadSig || t.Error == dns.RcodeBadKey {
		return tsigError(t, v.signer, v.now())
	}
	body, err := stripTSIG(wire)
	if err != nil {
		return fmt.Errorf("reading the signature: %w", err)
	}
	binary.BigEndian.PutUint16(body[0:], t.OrigId)
	digest := v.MAC(binary.BigEndian.AppendUint16(nil, uint16(len(v.mac))), v.mac, v.unsigned, body, v.variables(t))
	got, err := hex.DecodeString(t.MAC)
	if err != nil || dns.CanonicalName(t.Hdr.Name) != v.Name() || dns.CanonicalName(t.Algorithm) != v.Algorithm() ||
		!hmac.Equal(digest, got) {
		return notAuthorised("BADSIG", fmt.Errorf("the answer is not signed with key %s as it should be", called(v.Name())))
	}
	v.mac, v.unsigned, v.count, v.streamed = got, v.unsigned[:0], 0, true
	if t.Error != dns.RcodeSuccess {
		return tsigError(t, v.signer, v.now())
	}
	if off := v.now().Unix() - int64(t.TimeSigned); off > int64(t.Fudge) || -off > int64(t.Fudge) {
		return notAuthorised("BADTIME", fmt.Errorf(
			"the server's clock differs from the operator's by %d seconds; set both by NTP",
			-off))
	}
	return nil
}

// skip takes an unsigned message. Inside a stream it is covered by the next signature. Otherwise a server that refuses
// may do so unsigned, since it may not know the key; the caller sees the refusal. Nothing else may be unsigned.
func (v *verifier) skip(wire []byte, m *dns.Msg) error {
	if !v.streamed {
		if m.Rcode != dns.RcodeSuccess {
			return nil
		}
		return notAuthorised("", errors.New("the answer is not signed, although the request was"))
	}
	if v.count++; v.count > maxUnsigned {
		return notAuthorised("", fmt.Errorf("more than %d messages of the transfer follow each other unsigned", maxUnsigned))
	}
	v.unsigned = append(v.unsigned, wire...)
	return nil
}

// variables are the parts of a TSIG that are signed (RFC 8945 §4.3.3); after the first message of a stream the timers
// only.
func (v *verifier) variables(t *dns.TSIG) []byte {
	other, _ := hex.DecodeString(t.OtherData) // miekg made the text
	stamp := tsig.Stamp{Time: t.TimeSigned, Fudge: t.Fudge, Error: t.Error, Other: other}
	if v.streamed {
		return stamp.AppendTimers(nil)
	}
	return v.AppendVariables(nil, stamp)
}

// done ends a stream: its last message must have been signed.
func (v *verifier) done() error {
	if v.Signs() && v.count > 0 {
		return notAuthorised("", errors.New("the end of the transfer is not signed"))
	}
	return nil
}

// stripTSIG returns a copy of a message without its last record, which is a TSIG, and with that one not counted.
func stripTSIG(wire []byte) ([]byte, error) {
	if len(wire) < 12 {
		return nil, errShort
	}
	at := 12
	var err error
	for range binary.BigEndian.Uint16(wire[4:]) {
		if at, err = skipName(wire, at); err != nil {
			return nil, err
		}
		at += 4
	}
	records := 0
	for i := 6; i < 12; i += 2 {
		records += int(binary.BigEndian.Uint16(wire[i:]))
	}
	additional := binary.BigEndian.Uint16(wire[10:])
	if additional == 0 {
		return nil, errShort
	}
	for range records - 1 {
		if at, err = skipRecord(wire, at); err != nil {
			return nil, err
		}
	}
	if at > len(wire) {
		return nil, errShort
	}
	body := append([]byte(nil), wire[:at]...)
	binary.BigEndian.PutUint16(body[10:], additional-1)
	return body, nil
}

var errShort = errors.New("the message is cut off")

// skipRecord returns where the record that starts at an offset ends.
func skipRecord(wire []byte, at int) (int, error) {
	at, err := skipName(wire, at)
	if err != nil {
		return 0, err
	}
	if at+10 > len(wire) {
		return 0, errShort
	}
	return at + 10 + int(binary.BigEndian.Uint16(wire[at+8:])), nil
}

// skipName returns where the name that starts at an offset ends; a compression pointer ends it.
func skipName(wire []byte, at int) (int, error) {
	for at < len(wire) {
		switch n := int(wire[at]); {
		case n == 0:
			return at + 1, nil
		case n >= 0xC0:
			return at + 2, nil
		case n > 63:
			return 0, fmt.Errorf("label of type %#x", n)
		default:
			at += 1 + n
		}
	}
	return 0, errShort
}
