package draft

import (
	"crypto/sha256"
	"encoding/base32"
	"hash/maphash"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

const (
	maxName = 253 // characters of an object's name
	sumSize = 8   // characters of the sum in a name: 40 bits
)

// A namer names objects after the owner of their record: "www-a-8hs1qd3f" is an A record of www. The sum at the end is
// of the whole owner, as zones of one namespace have the same names in them, and of the data, so that a name stays when
// other records come and go. A set of which there is one object has a sum without data.
type namer struct {
	seed maphash.Seed
	used map[uint64]struct{} // the names of the last owner, and of all whose own name is not in them as it is
	last dnsname.Name
	odd  map[uint64]struct{}
}

func newNamer() namer {
	return namer{seed: maphash.MakeSeed(), used: map[uint64]struct{}{}, odd: map[uint64]struct{}{}}
}

// name returns the name of an object for data of a set; data is "" if the object is for the whole set.
func (n *namer) name(zone, owner dnsname.Name, t rr.Type, data string) string {
	used := n.used
	text, exact := slug(owner.In(zone))
	if n.last != owner {
		clear(n.used)
		n.last = owner
	}
	if !exact {
		used = n.odd
	}
	if t.Singleton() {
		data = ""
	}
	base := text + "-" + strings.ToLower(t.String())
	sum := sha256.Sum256([]byte(owner.String() + " " + t.String() + " " + data))
	letters := strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
	for size := sumSize; ; size++ { // a longer one only where somebody made two sums begin alike
		name := base + "-" + letters[:min(size, len(letters))]
		key := maphash.String(n.seed, name)
		if _, taken := used[key]; !taken || size >= len(letters) {
			used[key] = struct{}{}
			return name
		}
	}
}

// slug returns the text of a name as one that objects can have (RFC 1123 §2.1), and whether it is the same.
func slug(name string) (text string, exact bool) {
	const room = maxName - len("-nsec3param-") - 52
	exact = len(name) <= room
	var labels []string
	for label := range strings.SplitSeq(name, ".") {
		clean := strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' {
				return c
			}
			return '-'
		}, label)
		clean = strings.Trim(clean, "-")
		switch label {
		case "@":
			clean = "apex"
		case "*":
			clean = "wildcard"
		}
		exact = exact && clean == label
		if clean != "" {
			labels = append(labels, clean)
		}
	}
	if text = strings.Join(labels, "."); text == "" {
		text = "name"
	}
	if len(text) > room {
		text = strings.TrimRight(text[:room], "-.")
	}
	return text, exact
}
