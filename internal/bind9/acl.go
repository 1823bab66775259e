package bind9

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// maxElement is the longest element of a list that is taken, in characters.
const maxElement = 256

// An ACL is an address match list of BIND. nil is one that nobody wrote, which is not the same as an empty one: none.
type ACL []Element

// An Element is one of: any, none, localhost, localnets, an address, a network, a key, the name of a list; each can be
// negated. It can only be made by the functions of this package, so that it is always well-formed. The zero Element is
// none.
type Element struct{ text string }

// The elements that BIND has names for.
var (
	noone    = Element{"none"}
	builtins = []string{"any", "none", "localhost", "localnets"}
)

// ParseACL reads a list as users write it: built-in names, addresses, networks in CIDR notation and "key NAME", each
// with "!" before it to exclude it. field is named in errors. nil stays nil.
func ParseACL(field string, entries []string) (ACL, error) {
	if entries == nil {
		return nil, nil
	}
	acl := ACL{}
	for i, text := range entries {
		e, err := parseElement(text)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", field, i, err)
		}
		acl = append(acl, e)
	}
	return acl, nil
}

func parseElement(text string) (Element, error) {
	const way = "write any, none, localhost, localnets, an IP address, a network such as 192.0.2.0/24, or key NAME, " +
		"each with ! before it to exclude it"
	if len(text) > maxElement {
		return Element{}, fmt.Errorf("%s has %d characters, more than %d; %s", quoteShort(text), len(text), maxElement, way)
	}
	rest, negated := strings.CutPrefix(text, "!")
	rest = strings.Trim(rest, " ") // not \n and \t: nobody writes these on purpose
	e, err := parsePositive(rest)
	if err != nil {
		return Element{}, fmt.Errorf("%s is not an element of an address match list: %w; %s", quoteShort(text), err, way)
	}
	if negated {
		e.text = "!" + e.text
	}
	return e, nil
}

func parsePositive(text string) (Element, error) {
	if slices.Contains(builtins, strings.ToLower(text)) {
		return Element{strings.ToLower(text)}, nil
	}
	if name, ok := strings.CutPrefix(text, "key "); ok {
		return KeyElement(unquote(strings.TrimLeft(name, " ")))
	}
	if strings.Contains(text, "/") {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return Element{}, fmt.Errorf("it is not a network")
		}
		return NetworkElement(network)
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return Element{}, fmt.Errorf("it is not an address")
	}
	return AddressElement(addr)
}

func unquote(text string) string {
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return text[1 : len(text)-1]
	}
	return text
}

// KeyElement matches what is signed with the key of that name.
func KeyElement(name string) (Element, error) {
	if err := checkName("key name", name); err != nil {
		return Element{}, err
	}
	return Element{`key "` + name + `"`}, nil
}

// ListElement matches what the acl statement of that name matches.
func ListElement(name string) (Element, error) {
	if err := checkName("list name", name); err != nil {
		return Element{}, err
	}
	return Element{`"` + name + `"`}, nil
}

// AddressElement matches one address.
func AddressElement(addr netip.Addr) (Element, error) {
	if err := checkAddress(addr); err != nil {
		return Element{}, err
	}
	return Element{addr.String()}, nil
}

// NetworkElement matches a network. BIND refuses a network with bits set behind the prefix.
func NetworkElement(network netip.Prefix) (Element, error) {
	switch err := checkAddress(network.Addr()); {
	case err != nil:
		return Element{}, err
	case !network.IsValid():
		return Element{}, fmt.Errorf("it is not a network")
	case network.Masked() != network:
		return Element{}, fmt.Errorf("it is an address inside the network %s; write the network itself", network.Masked())
	}
	if network.IsSingleIP() {
		return AddressElement(network.Addr())
	}
	return Element{network.String()}, nil
}

// checkAddress refuses what BIND does not take for an address, or takes and then never meets.
func checkAddress(addr netip.Addr) error {
	switch {
	case !addr.IsValid():
		return fmt.Errorf("it is not an address")
	case addr.Zone() != "":
		return fmt.Errorf("it has a zone, %s, which is valid on one machine only; remove it", quoteShort(addr.Zone()))
	case addr.Is4In6():
		return fmt.Errorf("it is an IPv4 address written as IPv6, which matches nothing; write %s", addr.Unmap())
	}
	return nil
}

// String is the element as BIND writes it.
func (e Element) String() string {
	if e.text == "" {
		return noone.text
	}
	return e.text
}

// list is the inside of the braces, always at least one element.
func (a ACL) list() string {
	if len(a) == 0 {
		a = ACL{noone}
	}
	var b strings.Builder
	for _, e := range a {
		b.WriteString(" " + e.String() + ";")
	}
	return b.String() + " "
}

// Strings are the elements as BIND writes them.
func (a ACL) Strings() []string {
	if a == nil {
		return nil
	}
	all := []string{}
	for _, e := range a {
		all = append(all, e.String())
	}
	return all
}
