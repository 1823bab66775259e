package zonefile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/zonefold/zonefold/internal/rr"
)

// A nest says what is open at the end of a line, so that a record goes on with the next (RFC 1035 §5.1).
type nest struct {
	parentheses int
	quote       bool
}

func (n *nest) unclosed() bool { return n.parentheses > 0 || n.quote }

// flatten adds what a line says to a record that is one line: without comments, and with blanks for parentheses.
func (n *nest) flatten(flat, line []byte) []byte {
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && i+1 < len(line) && line[i+1] != '\n':
			flat = append(flat, c)
			i++
			c = line[i]
		case c == '"':
			n.quote = !n.quote
		case n.quote:
		case c == ';':
			return append(flat, ' ')
		case c == '(':
			n.parentheses++
			c = ' '
		case c == ')':
			n.parentheses--
			c = ' '
		case c == '\r' || c == '\n':
			c = ' '
		}
		flat = append(flat, c)
	}
	return flat
}

// blanks end a word.
const blanks = " \t\r\n"

// cutWord cuts off the first word of a flat text, whose blanks may be escaped; a comment is none.
func cutWord(flat []byte) (word, rest []byte) {
	flat = bytes.TrimLeft(flat, blanks)
	for i := 0; i < len(flat); i++ {
		switch c := flat[i]; {
		case c == '\\':
			i++
		case c == ';':
			return flat[:i], nil
		case strings.IndexByte(blanks, c) >= 0:
			return flat[:i], flat[i:]
		}
	}
	return flat, nil
}

// cutQuoted cuts off the first word of a flat text if it is in quotes, and returns it in the form of one that is not:
// what would have a meaning outside quotes as \DDD.
func cutQuoted(flat []byte) (word, rest string, ok bool) {
	flat = bytes.TrimLeft(flat, blanks)
	if len(flat) == 0 || flat[0] != '"' {
		return "", "", false
	}
	var out []byte
	for i := 1; i < len(flat); i++ {
		switch c := flat[i]; {
		case c == '"':
			return string(out), string(flat[i+1:]), len(out) > 0
		case c == '\\' && i+1 < len(flat):
			out = append(out, c, flat[i+1])
			i++
		case strings.IndexByte(blanks+";()$", c) >= 0:
			out = fmt.Appendf(out, `\%03d`, c)
		default:
			out = append(out, c)
		}
	}
	return "", "", false
}

// A head is what a record says of itself, and its data.
type head struct {
	states bool   // there is a TTL
	typ    []byte // nil: there is none
	data   []byte
}

// headOf reads a flat record. A TTL stands before or after the class, if there is one; both begin as no type does.
func headOf(flat []byte) head {
	var h head
	if len(flat) > 0 && strings.IndexByte(blanks, flat[0]) < 0 {
		_, flat = cutWord(flat) // the owner
	}
	for {
		var word []byte
		word, flat = cutWord(flat)
		switch {
		case len(word) == 0:
			return h
		case word[0] >= '0' && word[0] <= '9':
			h.states = true
		case !isClass(word):
			h.typ, h.data = word, flat
			return h
		}
	}
}

func isClass(word []byte) bool {
	return len(word) == 2 && strings.Contains("IN CH HS", strings.ToUpper(string(word)))
}

// ownData returns data in the form of RFC 3597 if it is of a type of which the parser does not read all forms: a LOC
// without minutes or seconds, an algorithm, digest or protocol by its name, a parameter of a service by its number
// although it has a name, a node or locator without leading zeros. "" leaves the data to the parser, which says what is
// wrong with it.
func ownData(typ, data []byte) string {
	name, text := strings.ToUpper(string(typ)), ""
	var wire []byte
	switch name {
	case "NID", "L64":
		wire = nodeID(strings.Fields(string(new(nest).flatten(nil, data))))
	case "DS", "CDS", "DLV":
		text = numbered(data, 2, digests)
	case "KEY":
		text = numbered(data, 1, protocols)
	case "LOC", "DNSKEY", "CDNSKEY", "SVCB", "HTTPS":
		text = strings.TrimSpace(string(new(nest).flatten(nil, data)))
	}
	if t, err := rr.ParseType(name); err == nil && text != "" {
		if wire, err = rr.Wire(t, text); err != nil {
			return ""
		}
	}
	if wire == nil {
		return ""
	}
	return fmt.Sprintf(`\# %d %X`, len(wire), wire)
}

// Words that BIND takes for numbers: digest types of DS (RFC 4034 §A.2), and protocols of KEY (RFC 2535 §3.1.3).
var (
	digests = map[string]string{"SHA-1": "1", "SHA1": "1", "SHA-256": "2", "SHA256": "2", "SHA-384": "4",
		"SHA384": "4"}
	protocols = map[string]string{"NONE": "0", "TLS": "1", "EMAIL": "2", "DNSSEC": "3", "IPSEC": "4", "ALL": "255"}
)

// numbered returns the words of data, with the number of one of them that has a name.
func numbered(data []byte, at int, names map[string]string) string {
	words := strings.Fields(string(new(nest).flatten(nil, data)))
	if len(words) > at {
		words[at] = cmp.Or(names[strings.ToUpper(words[at])], words[at])
	}
	return strings.Join(words, " ")
}

// nodeID reads a preference and 64 bits in four groups of up to four digits (RFC 6742 §2.1.2, §2.3.2), else nil.
func nodeID(words []string) []byte {
	if len(words) != 2 {
		return nil
	}
	preference, err := strconv.ParseUint(words[0], 10, 16)
	groups := strings.Split(words[1], ":")
	if err != nil || len(groups) != 4 {
		return nil
	}
	wire := binary.BigEndian.AppendUint16(nil, uint16(preference))
	for _, group := range groups {
		v, err := strconv.ParseUint(group, 16, 16)
		if err != nil || len(group) > 4 {
			return nil
		}
		wire = binary.BigEndian.AppendUint16(wire, uint16(v))
	}
	return wire
}
