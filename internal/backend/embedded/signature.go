package embedded

import (
	"bytes"
	"crypto/hmac"
	"encoding/binary"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend/tsig"
)

// A signature is what a request was signed with, and what its answers are signed with (RFC 8945).
type signature struct {
	key             *tsig.Signer // nil: there is none, or it does not fit; answers say so and are not signed
	name, algorithm []byte       // in wire format, in lower case, as the request has them
	stamp           tsig.Stamp   // of the request, with the error to answer
	mac             []byte       // of the request, or of the last message of a stream
	stream          bool         // the next message is not the first
	prior           []byte       // MAC of the request that what is checked answers, with its length; nil: it is a request

	names   [2 * maxName]byte
	scratch []byte
}

// clear forgets what was read.
func (s *signature) clear() {
	s.key, s.name, s.algorithm, s.mac, s.stamp, s.stream, s.prior = nil, nil, nil, nil, tsig.Stamp{}, false, nil
}

// keyring are the keys that requests may be signed with, by their names in wire format. Groups may use one name for
// several.
type keyring map[string][]*tsig.Signer

// read reads the TSIG record that begins at an offset. It reports whether it is one.
func (s *signature) read(msg []byte, at int) bool {
	rec, _, _ := cutRecord(msg[at:])
	s.name = expand(s.names[:0:maxName], msg, at)
	var algorithm path
	n := algorithm.read(s.names[maxName:], rec.data)
	if s.name == nil || n == 0 || rec.class != dns.ClassANY || rec.ttl != 0 {
		return false
	}
	s.algorithm = algorithm.wire
	b := rec.data[n:]
	if len(b) < 10 {
		return false
	}
	s.stamp.Time = uint64(binary.BigEndian.Uint16(b))<<32 | uint64(binary.BigEndian.Uint32(b[2:]))
	s.stamp.Fudge = binary.BigEndian.Uint16(b[6:])
	size := int(binary.BigEndian.Uint16(b[8:]))
	if b = b[10:]; len(b) < size+6 {
		return false
	}
	s.mac = b[:size]
	s.scratch = append(s.scratch[:0], b[size:size+2]...) // the original ID
	s.stamp.Error = binary.BigEndian.Uint16(b[size+2:])
	s.stamp.Other = b[size+6:]
	return len(s.stamp.Other) == int(binary.BigEndian.Uint16(b[size+4:]))
}

// expand appends a name that may be compressed (RFC 1035 §4.1.4) to dst, in lower case; nil if it is none or too long
// for the room there. Pointers lead backwards.
func expand(dst, msg []byte, at int) []byte {
	for before := at; at < len(msg); {
		length := int(msg[at])
		switch {
		case length >= 0xc0:
			if at+1 >= len(msg) {
				return nil
			}
			if at = length&0x3f<<8 | int(msg[at+1]); at >= before {
				return nil
			}
			before = at
			continue
		case length > maxLabel || at+1+length > len(msg) || len(dst)+1+length > cap(dst):
			return nil
		}
		dst = append(dst, byte(length))
		for _, c := range msg[at+1 : at+1+length] {
			dst = append(dst, lower(c))
		}
		if length == 0 {
			return dst
		}
		at += 1 + length
	}
	return nil
}

// check verifies the signature of a request whose TSIG record begins at an offset (RFC 8945 §5.2), and returns the
// rcode of the answer if it does not hold.
func (s *signature) check(msg []byte, at int, keys keyring, now time.Time) (rcode int) {
	if !s.read(msg, at) {
		s.clear()
		return dns.RcodeFormatError
	}
	var head [headerSize]byte
	copy(head[:], msg)
	copy(head[:], s.scratch[:2])
	binary.BigEndian.PutUint16(head[10:], binary.BigEndian.Uint16(head[10:])-1)
	refusal := uint16(dns.RcodeBadKey)
	for _, key := range keys[string(s.name)] {
		if _, algorithm := key.Wire(); !bytes.Equal(algorithm, s.algorithm) {
			continue
		}
		if len(s.mac) > key.Size() || len(s.mac) < max(10, key.Size()/2) { // RFC 8945 §5.2.2.1
			s.clear()
			return dns.RcodeFormatError
		}
		refusal = dns.RcodeBadSig
		s.scratch = key.AppendVariables(s.scratch[:0], s.stamp)
		if mac := key.MAC(s.prior, head[:], msg[headerSize:at], s.scratch); hmac.Equal(mac[:len(s.mac)], s.mac) {
			s.key = key
			break
		}
	}
	asked := s.stamp
	s.stamp = tsig.Stamp{Time: asked.Time, Fudge: asked.Fudge, Error: refusal}
	if s.key == nil {
		return dns.RcodeNotAuth
	}
	off := now.Unix() - int64(asked.Time)
	switch {
	case max(off, -off) > int64(asked.Fudge):
		s.stamp.Error = dns.RcodeBadTime
		s.stamp.Other = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(nil, uint16(now.Unix()>>32)),
			uint32(now.Unix()))
	case len(s.mac) < s.key.Size():
		s.stamp.Error = dns.RcodeBadTrunc
	default:
		s.stamp = tsig.Stamp{Time: uint64(now.Unix()), Fudge: tsig.Fudge}
		return dns.RcodeSuccess
	}
	return dns.RcodeNotAuth
}

// valid returns the key that the request is signed with, nil if it is not or the signature does not hold.
func (s *signature) valid() *tsig.Signer {
	if s.stamp.Error != dns.RcodeSuccess {
		return nil
	}
	return s.key
}

// size is what the TSIG record of an answer takes, in octets.
func (s *signature) size() int {
	if s.name == nil {
		return 0
	}
	n := len(s.name) + 10 + len(s.algorithm) + 16 + len(s.stamp.Other)
	if s.key != nil {
		n += s.key.Size()
	}
	return n
}

// sign ends a message with its TSIG record, if the request had one, and returns the MAC. A request of ours has none
// before it.
func (s *signature) sign(m *message) (mac []byte) {
	if s.name == nil {
		return nil
	}
	if s.key != nil {
		var prior []byte
		if s.mac != nil {
			prior = withLength(s.mac)
		}
		if s.stream {
			s.scratch = s.stamp.AppendTimers(s.scratch[:0])
		} else {
			s.scratch = s.key.AppendVariables(s.scratch[:0], s.stamp)
		}
		mac = s.key.MAC(prior, m.buf, s.scratch)
	}
	id := binary.BigEndian.Uint16(m.buf)
	b := append(m.buf, s.name...)
	b = binary.BigEndian.AppendUint16(b, dns.TypeTSIG)
	b = binary.BigEndian.AppendUint16(b, dns.ClassANY)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(len(s.algorithm)+16+len(mac)+len(s.stamp.Other)))
	b = append(b, s.algorithm...)
	b = s.stamp.AppendTimers(b)
	b = binary.BigEndian.AppendUint16(b, uint16(len(mac)))
	b = append(b, mac...)
	b = binary.BigEndian.AppendUint16(b, id)
	b = binary.BigEndian.AppendUint16(b, s.stamp.Error)
	b = binary.BigEndian.AppendUint16(b, uint16(len(s.stamp.Other)))
	m.buf = append(b, s.stamp.Other...)
	m.count(3, 1)
	return mac
}

func withLength(mac []byte) []byte {
	return append(binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(mac)), uint16(len(mac))), mac...)
}
