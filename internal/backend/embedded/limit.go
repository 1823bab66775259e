package embedded

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/guarded"
)

// A limiter bounds how often one network gets one answer over UDP, where the sender of a question may be forged and the
// answer hit somebody else. What is over the limit is truncated to the size of the question: nobody gains by that, and
// who is not forged asks over TCP and loses nothing. It counts answers, not questions: by the set that was found, for
// negative answers by the zone, for referrals by the cut, for refusals by nothing, so that asking for ever other names
// does not help.
//
// The networks are /24 of IPv4 and /56 of IPv6. It remembers a bounded number of them, the latest.
type limiter struct {
	rate   int // answers a second; as many may come at once
	seed   maphash.Seed
	shards [64]guarded.Value[shard]
}

type shard struct{ buckets [512]bucket }

// A bucket holds what is left for one network and answer.
type bucket struct {
	key  uint64
	at   int64 // Unix time in nanoseconds of the last answer
	left int64 // answers, in nanoseconds of the time that they take at the rate
}

func newLimiter(rate int) *limiter {
	if rate <= 0 {
		return nil
	}
	return &limiter{rate: rate, seed: maphash.MakeSeed()}
}

// allows counts an answer and reports whether it may be sent.
func (l *limiter) allows(client netip.Addr, r *responder, now time.Time) bool {
	key := l.key(client, r)
	s, unlock := l.shards[key%uint64(len(l.shards))].Lock()
	defer unlock()
	const second = int64(time.Second)
	b := &s.buckets[key/uint64(len(l.shards))%uint64(len(s.buckets))]
	if b.key != key {
		*b = bucket{key: key, at: now.UnixNano(), left: second}
	}
	b.left = min(second, b.left+max(0, now.UnixNano()-b.at))
	b.at = now.UnixNano()
	price := second / int64(l.rate)
	if b.left < price {
		return false
	}
	b.left -= price
	return true
}

// A subject is one network and one answer.
type subject struct {
	network uint64
	first   *set // of the answer: a wildcard is one, whatever the names are
	rcode   int
}

// key identifies a network and an answer.
func (l *limiter) key(client netip.Addr, r *responder) uint64 {
	var s subject
	if client = client.Unmap(); client.Is4() {
		b := client.As4()
		s.network = uint64(binary.BigEndian.Uint32(b[:]) >> 8)
	} else {
		b := client.As16()
		s.network = binary.BigEndian.Uint64(b[:])>>8 | 1<<63
	}
	s.rcode = int(r.message.buf[3] & 15)
	switch a := &r.answer; {
	case s.rcode != dns.RcodeSuccess && s.rcode != dns.RcodeNameError:
	case len(a.answer) > 0:
		s.first = a.answer[0].set
	case len(a.authority) > 0:
		s.first = a.authority[0].set
	}
	return maphash.Comparable(l.seed, s)
}
