package schema

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/zonefold/zonefold/internal/cli/likely"
)

// clause returns what is wrong with an object, without the field's name.
func clause(e *field.Error, object map[string]any) string {
	detail := strings.TrimPrefix(e.Detail, e.Field+" in body ")
	switch words := wordsOf(detail); {
	case e.Type == field.ErrorTypeRequired:
		return strings.TrimSuffix("is required: "+detail, ": ")
	case e.Type == field.ErrorTypeNotSupported, words != nil:
		return notOneOf(e, detail, words)
	case e.Type == field.ErrorTypeTypeInvalid && strings.HasPrefix(detail, "must be of type integer"):
		return noInteger(at(object, e.Field), detail)
	case detail == "":
		return e.ErrorBody()
	}
	// The API server explains names by a regular expression after the sentence.
	detail, _, _ = strings.Cut(detail, " (e.g. ")
	return shortened(detail)
}

// notOneOf says of a value that it is none of those that there are, and which of them may be meant.
func notOneOf(e *field.Error, detail string, words []string) string {
	value := fmt.Sprint(e.BadValue)
	if words == nil {
		for _, w := range quoted.FindAllStringSubmatch(detail, -1) {
			words = append(words, w[1])
		}
	} else {
		detail = "supported values: " + strings.Join(words, ", ")
	}
	clause := fmt.Sprintf("cannot be %q", value)
	if question := likely.Said(value, words); question != "" {
		return clause + question
	}
	if last := e.Field[strings.LastIndexByte(e.Field, '.')+1:]; strings.HasSuffix(last, "ype") {
		if way := instead[strings.ToUpper(value)]; way != "" {
			return clause + ": " + way
		}
	}
	return clause + ": " + shortened(detail)
}

// instead says what to write in the place of record types that some services have, and DNS has not.
var instead = map[string]string{
	"ALIAS": "only some services have that type; write A and AAAA records, or CNAME below the name of the zone",
	"ANAME": "only some services have that type; write A and AAAA records, or CNAME below the name of the zone",
	"SPF":   "that type is obsolete (RFC 7208 §3.1); write TXT",
}

var (
	quoted = regexp.MustCompile(`"([^"]*)"`)
	choice = regexp.MustCompile(`^should match '\^\(([A-Za-z0-9|{},\[\]+-]+)\)\$'$`)
	word   = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
)

// wordsOf returns the words that a pattern allows, nil if it is not a list of such.
func wordsOf(detail string) []string {
	found := choice.FindStringSubmatch(detail)
	if found == nil {
		return nil
	}
	var out []string
	for w := range strings.SplitSeq(found[1], "|") {
		if word.MatchString(w) {
			out = append(out, w)
		}
	}
	return out
}

// noInteger says of a text that it is no integer, and which may be meant.
func noInteger(value any, detail string) string {
	text, isText := value.(string)
	if !isText {
		return shortened(detail)
	}
	clause := fmt.Sprintf("must be an integer, not the text %q", text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return fmt.Sprintf("%s; write %d, without quotes", clause, n)
	}
	if n, ok := seconds(text); ok {
		return fmt.Sprintf("%s; in seconds that is %d", clause, n)
	}
	return clause
}

var part = regexp.MustCompile(`^([0-9]{1,9})([smhdw])`)

// seconds reads a time as people write it in zone files: 5m, 1h30m, 2d.
func seconds(text string) (int64, bool) {
	units := map[string]int64{"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
	total, rest := int64(0), strings.ToLower(text)
	for rest != "" {
		found := part.FindStringSubmatch(rest)
		if found == nil {
			return 0, false
		}
		n, _ := strconv.ParseInt(found[1], 10, 64) // nine digits
		total, rest = total+n*units[found[2]], rest[len(found[0]):]
	}
	return total, text != ""
}

// at returns the value of a field that is in no list.
func at(object map[string]any, path string) any {
	var value any = object
	for name := range strings.SplitSeq(path, ".") {
		members, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = members[name]
	}
	return value
}

// maxDetail is how much of a message is shown, in octets.
const maxDetail = 200

func shortened(detail string) string {
	if len(detail) > maxDetail {
		return strings.ToValidUTF8(detail[:maxDetail], "") + "…"
	}
	return detail
}
