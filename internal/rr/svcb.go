package rr

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// svcParams is the parameters of SVCB and HTTPS to the end (RFC 9460 §2),
// canonically in the order of their keys, with names for the keys of that RFC
// and keyNNNNN for all later ones, which not every server knows by name.
type svcParams struct{}

// A svcKey is the number of a parameter.
type svcKey uint16

const (
	keyMandatory svcKey = iota
	keyALPN
	keyNoDefaultALPN
	keyPort
	keyIPv4Hint
	keyECH
	keyIPv6Hint
	keyInvalid svcKey = 65535 // RFC 9460 §14.3.2
)

// svcNames is the names of the keys from 0; the last two are read (RFC 9461,
// RFC 9540) but not printed.
var svcNames = [...]string{"mandatory", "alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint", "dohpath",
	"ohttp"}

// A svcParam is one parameter with its value in wire format.
type svcParam struct {
	key   svcKey
	value []byte
}

func (k svcKey) String() string {
	if k <= keyIPv6Hint {
		return svcNames[k]
	}
	return "key" + strconv.Itoa(int(k))
}

func parseSvcKey(s string) (key svcKey, named bool, err error) {
	if i := slices.Index(svcNames[:], s); i >= 0 {
		return svcKey(i), true, nil
	}
	if digits, ok := strings.CutPrefix(s, "key"); ok {
		v, err := strconv.ParseUint(digits, 10, 16)
		if err == nil && svcKey(v) != keyInvalid && digits == strconv.FormatUint(v, 10) {
			return svcKey(v), false, nil
		}
	}
	return 0, false, fmt.Errorf(
		"the parameter key %s is not known: write a name such as alpn, or key and its number (0 to 65534)", shorten(s))
}

func (svcParams) parse(c *codec, _ string) error {
	var params []svcParam
	for c.more() {
		t, err := c.next(true)
		if err != nil {
			return err
		}
		if t.quoted {
			return fmt.Errorf("the parameter %s is quoted: only its value after = may be", shorten(t.text))
		}
		p, err := parseSvcParam(t.text)
		if err != nil {
			return err
		}
		params = append(params, p)
	}
	slices.SortFunc(params, func(a, b svcParam) int { return cmp.Compare(a.key, b.key) })
	for i, p := range params {
		if i > 0 && params[i-1].key == p.key {
			return fmt.Errorf("the parameter %s is given twice", p.key)
		}
		if len(p.value) > maxData {
			return fmt.Errorf("the parameter %s is too long", p.key)
		}
		c.wire = binary.BigEndian.AppendUint16(c.wire, uint16(p.key))
		c.wire = binary.BigEndian.AppendUint16(c.wire, uint16(len(p.value)))
		c.wire = append(c.wire, p.value...)
	}
	return nil
}

// parseSvcParam reads key, key=value or key="value".
func parseSvcParam(s string) (svcParam, error) {
	name, text, _ := strings.Cut(s, "=")
	key, named, err := parseSvcKey(name)
	if err != nil {
		return svcParam{}, err
	}
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	value, err := appendString(nil, text)
	if err != nil {
		return svcParam{}, err
	}
	if named {
		if value, err = key.encode(string(value)); err != nil {
			return svcParam{}, fmt.Errorf("the parameter %s %w", key, err)
		}
	}
	return svcParam{key, value}, nil
}

// encode returns the wire format of the value of a named parameter.
func (k svcKey) encode(s string) ([]byte, error) {
	switch k {
	case keyMandatory:
		return encodeKeys(s)
	case keyALPN:
		return encodeALPN(s)
	case keyPort:
		v, err := strconv.ParseUint(s, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("has the value %s, which is not a number from 0 to 65535", shorten(s))
		}
		return binary.BigEndian.AppendUint16(nil, uint16(v)), nil
	case keyIPv4Hint:
		return encodeHints(s, ipv4)
	case keyIPv6Hint:
		return encodeHints(s, ipv6)
	case keyECH:
		return base64Rest.decode(nil, "value", s)
	}
	return []byte(s), nil
}

func encodeKeys(s string) ([]byte, error) {
	var keys []svcKey
	for name := range strings.SplitSeq(s, ",") {
		key, _, err := parseSvcKey(name)
		if err != nil {
			return nil, fmt.Errorf("has a list in which %w", err)
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var value []byte
	for _, key := range keys {
		value = binary.BigEndian.AppendUint16(value, uint16(key))
	}
	return value, nil
}

// encodeALPN splits a list at commas, in which a backslash makes the next comma
// or backslash part of an item (RFC 9460 §A.1).
func encodeALPN(s string) ([]byte, error) {
	value, at := []byte{0}, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ',':
			value[at] = byte(len(value) - at - 1)
			at = len(value)
			value = append(value, 0)
			continue
		case c == '\\':
			if i++; i == len(s) || s[i] != ',' && s[i] != '\\' {
				return nil, errors.New(`has a backslash before something other than a comma or a backslash`)
			}
			c = s[i]
		}
		if value = append(value, c); len(value)-at-1 > 255 {
			return nil, errors.New("has a protocol of more than 255 octets")
		}
	}
	value[at] = byte(len(value) - at - 1)
	return value, nil
}

func encodeHints(s string, a address) ([]byte, error) {
	var value []byte
	for one := range strings.SplitSeq(s, ",") {
		ip, err := a.read(one)
		if err != nil {
			return nil, fmt.Errorf("has the value %w", err)
		}
		value = append(value, ip.AsSlice()...)
	}
	return value, nil
}

func (svcParams) print(c *codec, _ string) error {
	params, err := takeParams(c)
	if err != nil {
		return err
	}
	for _, p := range params {
		c.space()
		c.text = append(c.text, p.key.String()...)
		if c.text, err = p.print(c.text, params); err != nil {
			return fmt.Errorf("the parameter %s %w", p.key, err)
		}
	}
	return nil
}

// takeParams cuts the parameters apart and checks their keys.
func takeParams(c *codec) (params []svcParam, err error) {
	for last := -1; len(c.wire) > 0; {
		head, err := c.take("list of parameters", 4)
		if err != nil {
			return nil, err
		}
		p := svcParam{key: svcKey(binary.BigEndian.Uint16(head))}
		if p.value, err = c.take("list of parameters", int(binary.BigEndian.Uint16(head[2:]))); err != nil {
			return nil, err
		}
		if int(p.key) <= last || p.key == keyInvalid {
			return nil, errors.New("the parameters are not in the order of their keys, or have the invalid key 65535")
		}
		last = int(p.key)
		params = append(params, p)
	}
	return params, nil
}

// print adds "=value", or nothing for no value. It has the checks that servers
// make of data in wire format.
func (p svcParam) print(dst []byte, all []svcParam) ([]byte, error) {
	switch p.key {
	case keyMandatory:
		return printKeys(dst, p.value, all)
	case keyALPN:
		return printALPN(dst, p.value)
	case keyNoDefaultALPN:
		if len(p.value) > 0 {
			return nil, errors.New("has a value, but may have none")
		}
		if !given(all, keyALPN) {
			return nil, errors.New("is given without alpn")
		}
	case keyPort:
		if len(p.value) != 2 {
			return nil, errors.New("has no value: write a port number")
		}
		return strconv.AppendUint(append(dst, '='), uint64(binary.BigEndian.Uint16(p.value)), 10), nil
	case keyIPv4Hint:
		return printHints(dst, p.value, ipv4)
	case keyIPv6Hint:
		return printHints(dst, p.value, ipv6)
	case keyECH:
		if len(p.value) > 0 {
			return base64Rest.encode(append(dst, '='), p.value), nil
		}
	default:
		if len(p.value) > 0 {
			return appendQuoted(append(dst, '='), p.value), nil
		}
	}
	return dst, nil
}

// given reports whether the parameters, which are in order, have the key.
func given(all []svcParam, key svcKey) bool {
	_, ok := slices.BinarySearchFunc(all, key, func(p svcParam, k svcKey) int { return cmp.Compare(p.key, k) })
	return ok
}

func printKeys(dst, value []byte, all []svcParam) ([]byte, error) {
	if len(value) == 0 || len(value)%2 != 0 {
		return nil, errors.New("has no list of keys")
	}
	for last, sep := keyMandatory, byte('='); len(value) > 0; sep = ',' {
		key := svcKey(binary.BigEndian.Uint16(value))
		value = value[2:]
		if key <= last {
			return nil, errors.New("lists itself, or a key twice")
		}
		if !given(all, key) {
			return nil, fmt.Errorf("lists %s, which is not given", key)
		}
		last = key
		dst = append(append(dst, sep), key.String()...)
	}
	return dst, nil
}

func printALPN(dst, value []byte) ([]byte, error) {
	var list []byte
	for len(value) > 0 {
		size := int(value[0])
		if size == 0 || size >= len(value) {
			return nil, errors.New("has an empty protocol in its list")
		}
		if list != nil {
			list = append(list, ',')
		}
		for _, c := range value[1 : 1+size] {
			if c == ',' || c == '\\' {
				list = append(list, '\\')
			}
			list = append(list, c)
		}
		value = value[1+size:]
	}
	if list == nil {
		return nil, errors.New("has an empty list")
	}
	return appendQuoted(append(dst, '='), list), nil
}

func printHints(dst, value []byte, a address) ([]byte, error) {
	if len(value) == 0 || len(value)%int(a) != 0 {
		return nil, fmt.Errorf("has no list of %s addresses", a)
	}
	for sep := byte('='); len(value) > 0; sep = ',' {
		ip, _ := netip.AddrFromSlice(value[:a])
		if ip.Is4In6() {
			return nil, fmt.Errorf("has the IPv4 address %s: write it in ipv4hint", ip)
		}
		dst = ip.AppendTo(append(dst, sep))
		value = value[a:]
	}
	return dst, nil
}
