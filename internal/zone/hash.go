package zone

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// leafSize is how many digests a leaf of a hash tree holds at most. It is part of the
// hash: changing it changes every status.hash.
const leafSize = 16

type digest [sha256.Size]byte

// A hasher keeps the hash of a zone's sets so that one change costs some small hashes
// whatever the size of the zone. The zero value is the hash of nothing. It depends on
// the sets only, not on the order in which they came and went.
type hasher struct {
	root branch
	sum  string // 32 hexadecimal digits, as of the last finish
}

// A branch of a hash tree holds the digests that begin with the same nibbles: itself,
// or by their next nibble in branches when they are more than leafSize. So the shape
// follows from the digests.
type branch struct {
	count    int
	leaf     []digest // sorted
	branches *[16]*branch
	sum      digest
	summed   bool
}

// add accounts for a set, remove takes it out again.
func (h *hasher) add(s rr.Set)    { h.root.add(digestOf(s), 0) }
func (h *hasher) remove(s rr.Set) { h.root.remove(digestOf(s), 0) }

// finish brings sum up to date.
func (h *hasher) finish() {
	if !h.root.summed || h.sum == "" {
		sum := h.root.total()
		h.sum = hex.EncodeToString(sum[:16])
	}
}

// HashOf returns the hash of a zone's sets, that of a Snapshot.
func HashOf(sets rr.Sets) string {
	var h hasher
	for set := range sets.All() {
		h.add(set)
	}
	h.finish()
	return h.sum
}

func (b *branch) add(d digest, depth int) {
	b.count++
	b.summed = false
	if b.branches != nil {
		b.next(d, depth).add(d, depth+1)
		return
	}
	i, _ := slices.BinarySearchFunc(b.leaf, d, compareDigests)
	b.leaf = slices.Insert(b.leaf, i, d)
	if b.count > leafSize && depth < 2*sha256.Size {
		b.branches = new([16]*branch)
		for _, d := range b.leaf {
			b.next(d, depth).add(d, depth+1)
		}
		b.leaf = nil
	}
}

func (b *branch) remove(d digest, depth int) {
	b.count--
	b.summed = false
	if b.branches == nil {
		if i, found := slices.BinarySearchFunc(b.leaf, d, compareDigests); found {
			b.leaf = slices.Delete(b.leaf, i, i+1)
		}
		return
	}
	b.next(d, depth).remove(d, depth+1)
	if b.count <= leafSize {
		b.leaf = b.gather(make([]digest, 0, leafSize))
		b.branches = nil
	}
}

// next returns the branch for a digest below b, which begins at a nibble.
func (b *branch) next(d digest, nibble int) *branch {
	octet := d[nibble/2]
	if nibble%2 == 0 {
		octet >>= 4
	}
	at := &b.branches[octet&15]
	if *at == nil {
		*at = &branch{}
	}
	return *at
}

// gather appends all digests of b in order.
func (b *branch) gather(to []digest) []digest {
	if b.branches == nil {
		return append(to, b.leaf...)
	}
	for _, next := range b.branches {
		if next != nil {
			to = next.gather(to)
		}
	}
	return to
}

// total returns the sum of b: the digests of a leaf or the sums of all branches, after
// an octet that says which.
func (b *branch) total() digest {
	if b.summed {
		return b.sum
	}
	text := make([]byte, 1, 1+leafSize*sha256.Size)
	if b.branches == nil {
		for i := range b.leaf {
			text = append(text, b.leaf[i][:]...)
		}
	} else {
		text[0] = 1
		for _, next := range b.branches {
			var sum digest
			if next != nil && next.count > 0 {
				sum = next.total()
			}
			text = append(text, sum[:]...)
		}
	}
	b.sum, b.summed = sha256.Sum256(text), true
	return b.sum
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
