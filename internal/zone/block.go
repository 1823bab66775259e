package zone

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// A block is the addresses of a Zone for less than 256 of them (RFC 2317). Its name is 64/26 or 64-26 with the name of
// the 256 below it; the name of an address leads into it by a CNAME in the Zone that delegates to it.
type block struct{ first, size int } // the last octet; size 0: it is no block

// blockOf reads the block that a Zone of a name has.
func blockOf(name dnsname.Name) block {
	labels := name.Labels()
	if len(labels) != 6 || labels[4] != "in-addr" || labels[5] != "arpa" {
		return block{}
	}
	for _, octet := range labels[1:4] {
		if n, ok := number(octet); !ok || n > 255 {
			return block{}
		}
	}
	at := strings.IndexAny(labels[0], "-/")
	if at < 0 {
		return block{}
	}
	first, isNumber := number(labels[0][:at])
	bits, isLength := number(labels[0][at+1:])
	if !isNumber || !isLength || bits < 25 || bits > 32 || first > 255 {
		return block{}
	}
	b := block{first, 1 << (32 - bits)}
	if b.first%b.size != 0 {
		return block{}
	}
	return b
}

// number reads a number as it is in names: without zeros before it.
func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == s
}

// inside returns the name that an address has in a block's zone, outside the one that it has without.
func (b block) inside(name, zone dnsname.Name) dnsname.Name {
	label, _, _ := strings.Cut(name.String(), ".")
	return labelIn(label, zone)
}

func (b block) outside(name, zone dnsname.Name) dnsname.Name {
	up, _ := zone.Parent()
	if above, _ := name.Parent(); above != zone {
		return dnsname.Name{}
	}
	label, _, _ := strings.Cut(name.String(), ".")
	return labelIn(label, up)
}

// addresses calls yield with the name of each address of the block of a zone.
func (b block) addresses(zone dnsname.Name, yield func(dnsname.Name)) {
	up, _ := zone.Parent()
	for i := range b.size {
		yield(labelIn(strconv.Itoa(b.first+i), up))
	}
}

// openBlock has the names of its addresses know a Zone that is accepted for a block.
func (a *addresses) openBlock(z *zoneState) {
	if z.Policy.alone() || !z.reverses() {
		return
	}
	z.block = blockOf(z.node.name)
	z.block.addresses(z.node.name, func(name dnsname.Name) {
		a.visits++
		n := a.tree.node(name)
		i, _ := slices.BinarySearchFunc(n.blocks, z, compareBlocks)
		n.blocks = slices.Insert(n.blocks, i, z)
		a.turned[name] = struct{}{}
	})
}

// closeBlock has them forget it.
func (a *addresses) closeBlock(z *zoneState) {
	b := z.block
	z.block = block{}
	b.addresses(z.node.name, func(name dnsname.Name) {
		a.visits++
		if n := a.tree.find(name); n != nil {
			n.blocks = slices.DeleteFunc(n.blocks, func(o *zoneState) bool { return o == z })
			a.turned[name] = struct{}{}
		}
		if at := a.tree.find(b.inside(name, z.node.name)); at != nil {
			a.enqueueCell(at, z, false)
		}
	})
}

// compareBlocks orders Zones by who has an address: the one for the fewest, then the oldest.
func compareBlocks(a, b *zoneState) int {
	return cmp.Or(cmp.Compare(a.block.size, b.block.size), a.compare(b))
}
