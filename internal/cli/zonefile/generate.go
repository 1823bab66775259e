package zonefile

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// maxGenerated is how many records one $GENERATE may make.
const maxGenerated = 65536

// A generate is a $GENERATE, carried out as BIND does it. The parser has none of the bases n and N, wants the data
// without the quotes that BIND wants around several words, and gives records that state no TTL one of an hour.
type generate struct {
	owner, head, data string // in owner and data a "$" stands for the number
	at, stop, step    int64
}

// ranges reads START-STOP and START-STOP/STEP.
var ranges = regexp.MustCompile(`^(\d{1,10})-(\d{1,10})(?:/(\d{1,10}))?$`)

// newGenerate reads what follows $GENERATE on its line. The error is a clause.
func newGenerate(text []byte) (*generate, error) {
	span, record := cutWord(text)
	owner, rest := cutWord(record)
	h := headOf(append([]byte(" "), rest...))
	var open nest
	data := open.flatten(nil, []byte(unquote(strings.TrimSpace(string(h.data)))))
	switch {
	case len(data) == 0 || owner[0] == '"':
		return nil, errors.New("it needs a range, a name, a type and data, such as 1-127 host-$ A 192.0.2.$")
	case open != nest{}:
		return nil, errors.New("its data has a parenthesis or a quote that is not closed")
	}
	g := &generate{owner: string(owner), head: string(rest[:len(rest)-len(h.data)]), data: string(data), step: 1}
	numbers := ranges.FindStringSubmatch(string(span))
	if numbers == nil {
		return nil, fmt.Errorf("%.50q is not a range such as 1-127 or 0-254/2", span)
	}
	for i, to := range []*int64{&g.at, &g.stop, &g.step} {
		if number := numbers[i+1]; number != "" {
			*to, _ = strconv.ParseInt(number, 10, 64)
		}
	}
	switch {
	case g.stop < g.at || g.stop > math.MaxInt32 || g.step == 0:
		return nil, fmt.Errorf("%s is not a range of numbers up to %d with a step above 0", span, math.MaxInt32)
	case (g.stop-g.at)/g.step >= maxGenerated:
		return nil, fmt.Errorf("%s makes more than %d records; write several lines with parts of the range", span,
			maxGenerated)
	}
	return g, nil
}

// unquote takes the quotes off data that is one quoted word.
func unquote(data string) string {
	var out []byte
	for i := 1; i < len(data) && data[0] == '"'; i++ {
		switch c := data[i]; {
		case c == '"' && i == len(data)-1:
			return string(out)
		case c == '"':
			return data
		case c == '\\' && i+1 < len(data):
			if i++; data[i] != '"' {
				out = append(out, c)
			}
			out = append(out, data[i])
		default:
			out = append(out, c)
		}
	}
	return data
}

// done reports whether there is no further record.
func (g *generate) done() bool { return g.at > g.stop }

// next returns the next record, a line. The error is a clause.
func (g *generate) next() (string, error) {
	owner, err := expand(g.owner, g.at)
	if err != nil {
		return "", err
	}
	data, err := expand(g.data, g.at)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(owner, "$") { // a name, and no directive
		owner = `\` + owner
	}
	g.at += g.step
	return owner + g.head + " " + data + "\n", nil
}

// modifiers reads OFFSET, WIDTH and BASE.
var modifiers = regexp.MustCompile(`^\{([+-]?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?\}`)

// expand writes a number for each "$", unless it is escaped; "$$" is one "$".
func expand(text string, number int64) (string, error) {
	var out []byte
	for i := 0; i < len(text); i++ {
		rest := text[i+1:]
		switch {
		case text[i] == '\\' && rest != "":
			out = append(out, text[i:i+2]...)
			i++
		case text[i] != '$':
			out = append(out, text[i])
		case strings.HasPrefix(rest, "$"):
			out = append(out, '$')
			i++
		case strings.HasPrefix(rest, "{"):
			m := modifiers.FindStringSubmatch(rest)
			if m == nil {
				return "", fmt.Errorf("%.50q does not begin with ${OFFSET,WIDTH,BASE}, in which BASE is d, o, x, X, n or N",
					text[i:])
			}
			offset, _ := strconv.ParseInt(m[1], 10, 64)
			width, _ := strconv.Atoi(m[2])
			if offset += number; offset < 0 || offset > math.MaxInt32 {
				return "", fmt.Errorf("$%s makes %d of %d, which is not from 0 to %d", m[0], offset, number, math.MaxInt32)
			}
			out = appendNumber(out, offset, width, m[3])
			i += len(m[0])
		default:
			out = strconv.AppendInt(out, number, 10)
		}
	}
	return string(out), nil
}

// appendNumber writes a number with at least so many characters: in the base n or N as hexadecimal digits from the last
// to the first, with a dot after each, which counts as one.
func appendNumber(out []byte, number int64, width int, base string) []byte {
	switch base {
	case "o":
		return fmt.Appendf(out, "%0*o", width, number)
	case "x":
		return fmt.Appendf(out, "%0*x", width, number)
	case "X":
		return fmt.Appendf(out, "%0*X", width, number)
	case "n", "N":
		digits := "0123456789abcdef"
		if base == "N" {
			digits = "0123456789ABCDEF"
		}
		for begin, dot := len(out), false; number > 0 || len(out)-begin < max(width, 1); dot = !dot {
			if dot {
				out = append(out, '.')
				continue
			}
			out = append(out, digits[number&15])
			number >>= 4
		}
		return out
	}
	return fmt.Appendf(out, "%0*d", width, number)
}
