package zone

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// buckets balances the two things hashed after a change at 100,000 sets: the digests
// of one bucket, and the digests of all buckets. It is part of the hash: changing it
// changes every status.hash.
const buckets = 256

type digest [sha256.Size]byte

// A hasher keeps the hash of a zone's sets so that one change costs two small hashes.
// The zero value is the hash of nothing. It depends on the sets only, not on the order
// in which they came.
type hasher struct {
	buckets []*bucket // sorted by index; only those that hold something
	dirty   bool
	sum     string // as of the last finish
}

type bucket struct {
	index byte
	dirty bool
	sum   digest
	sets  []digest // sorted
}

// add accounts for a set, remove takes it out again.
func (h *hasher) add(s rr.Set) {
	b := h.bucket(s.Key())
	d := digestOf(s)
	i, _ := slices.BinarySearchFunc(b.sets, d, compareDigests)
	b.sets = slices.Insert(b.sets, i, d)
	b.dirty, h.dirty = true, true
}

func (h *hasher) remove(s rr.Set) {
	b := h.bucket(s.Key())
	d := digestOf(s)
	if i, found := slices.BinarySearchFunc(b.sets, d, compareDigests); found {
		b.sets = slices.Delete(b.sets, i, i+1)
	}
	b.dirty, h.dirty = true, true
}

// finish brings sum up to date: 32 hexadecimal digits.
func (h *hasher) finish() {
	if !h.dirty && h.sum != "" {
		return
	}
	h.buckets = slices.DeleteFunc(h.buckets, func(b *bucket) bool { return len(b.sets) == 0 })
	all := make([]byte, 0, len(h.buckets)*(sha256.Size+1))
	for _, b := range h.buckets {
		if b.dirty {
			b.sum, b.dirty = sumOf(b.sets), false
		}
		all = append(append(all, b.index), b.sum[:]...)
	}
	sum := sha256.Sum256(all)
	h.sum, h.dirty = hex.EncodeToString(sum[:16]), false
}

func (h *hasher) bucket(k rr.Key) *bucket {
	f := fnv.New32a()
	_, _ = f.Write([]byte(k.Name.String()))
	_, _ = f.Write([]byte{byte(k.Type >> 8), byte(k.Type)})
	index := byte(f.Sum32() % buckets)
	i, found := slices.BinarySearchFunc(h.buckets, index, func(b *bucket, x byte) int { return int(b.index) - int(x) })
	if !found {
		h.buckets = slices.Insert(h.buckets, i, &bucket{index: index})
	}
	return h.buckets[i]
}

func sumOf(sets []digest) digest {
	d := sha256.New()
	for i := range sets {
		_, _ = d.Write(sets[i][:])
	}
	return digest(d.Sum(nil))
}

// digestOf hashes one set: its name, type, TTL and rdata in canonical order, each
// ended by a zero octet, which presentation format does not contain.
func digestOf(s rr.Set) digest {
	b := make([]byte, 0, 128)
	b = append(append(b, s.Name.String()...), 0)
	b = binary.BigEndian.AppendUint16(b, uint16(s.Type))
	b = binary.BigEndian.AppendUint32(b, s.TTL)
	for _, data := range s.Data {
		b = append(append(b, data...), 0)
	}
	return sha256.Sum256(b)
}

func compareDigests(a, b digest) int { return bytes.Compare(a[:], b[:]) }
