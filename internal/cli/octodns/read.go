package octodns

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// DefaultTTL is that of octoDNS' YamlProvider, for records that say none.
const DefaultTTL = 3600

// maxEntry bounds what is said of one name, in octets.
const maxEntry = 16 << 20

// Read adds the records of a file to a zone. It holds what is said of one name at a time, as long as the file is in the
// block style that octoDNS writes.
func Read(r io.Reader, zone *content.Zone, step func(octets int)) error {
	in := bufio.NewReaderSize(r, 64<<10)
	d := &decoder{zone: zone, forms: forms(), seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
	var entry []byte
	line, begin := 0, 1
	for {
		text, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		step(len(text))
		line++
		if len(text) == 0 || begins(text) {
			if problem := d.entry(entry); problem != nil {
				return fmt.Errorf("line %d and those after it: %w", begin, problem)
			}
			entry, begin = entry[:0], line
		}
		if entry = append(entry, text...); len(entry) > maxEntry {
			return fmt.Errorf("line %d: more than %d MiB are said of one name", begin, maxEntry>>20)
		}
		if err != nil {
			return d.last(entry, begin)
		}
	}
}

// last takes the last entry, whose line has no end.
func (d *decoder) last(entry []byte, begin int) error {
	if err := d.entry(entry); err != nil {
		return fmt.Errorf("line %d and those after it: %w", begin, err)
	}
	return nil
}

// begins reports whether a line begins what is said of another name: it is not indented, and no item of a list, value
// of a key on a line of its own, comment or marker.
func begins(line []byte) bool {
	return len(bytes.TrimSpace(line)) > 0 && !bytes.ContainsRune([]byte(" \t-:#}].%"), rune(line[0])) ||
		bytes.HasPrefix(line, []byte("---"))
}

// A decoder reads entries.
type decoder struct {
	zone  *content.Zone
	forms map[rr.Type][]field

	seed maphash.Seed
	seen map[uint64]struct{} // the names of all entries: of each, the parser sees its own keys only
}

// A record is one record of octoDNS.
type record struct {
	Type    string         `yaml:"type"`
	TTL     any            `yaml:"ttl"`
	Value   any            `yaml:"value"`
	Values  []any          `yaml:"values"`
	OctoDNS map[string]any `yaml:"octodns"`
	Geo     any            `yaml:"geo"`
	Dynamic any            `yaml:"dynamic"`
}

// entry takes what is said of one name.
func (d *decoder) entry(text []byte) error {
	text = bytes.TrimPrefix(text, []byte("---"))
	var names map[string]yaml.Node
	if err := yaml.Unmarshal(text, &names); err != nil {
		return fmt.Errorf("it is not octoDNS YAML: %s", problem(err, "it must be a name with its records"))
	}
	for label, node := range names {
		sum := maphash.String(d.seed, label)
		if _, again := d.seen[sum]; again {
			return fmt.Errorf("the name %q has been there before, and a key is there once; put its records into one list", label)
		}
		d.seen[sum] = struct{}{}
		var records []record
		var err error
		if node.Kind == yaml.SequenceNode {
			err = node.Decode(&records)
		} else {
			records = make([]record, 1)
			err = node.Decode(&records[0])
		}
		if err != nil {
			return fmt.Errorf("the records of %q cannot be read: %s", label, problem(err,
				"they must be fields such as type and value, or a list of these"))
		}
		for i := range records {
			if err := d.record(label, &records[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// twice finds the key that a map has a second time in what the parser says.
var twice = regexp.MustCompile(`mapping key (".{1,100}") already defined`)

// problem says what is wrong with YAML: what the parser says, or what it has to be if it is something else.
func problem(err error, wanted string) string {
	if key := twice.FindStringSubmatch(err.Error()); key != nil {
		return fmt.Sprintf("the key %s is there twice", key[1])
	}
	if _, is := errors.AsType[*yaml.TypeError](err); is {
		return wanted // the library names its types, and lines that are none of the file
	}
	return strings.TrimPrefix(err.Error(), "yaml: ")
}

// owner returns the name of a label; "" is the zone's own.
func (d *decoder) owner(label string) (dnsname.Name, error) {
	if label == "" || label == "@" {
		return d.zone.Origin, nil
	}
	relative, err := dnsname.ParseRelative(strings.TrimSuffix(label, "."))
	if err != nil {
		return dnsname.Name{}, err
	}
	return relative.In(d.zone.Origin)
}

func (d *decoder) record(label string, r *record) error {
	what := label + " " + r.Type
	name, err := d.owner(label)
	if err == nil {
		what = name.String() + " " + r.Type
	}
	leaveOut := func(format string, args ...any) { d.zone.LeaveOut(what, fmt.Sprintf(format, args...)) }
	tell := func(kind content.Kind, why string) { d.zone.Report(content.Loss{Kind: kind, What: what, Why: why}) }
	values := r.Values
	if r.Value != nil {
		values = append(values, r.Value)
	}
	t, known := typeOf(r.Type)
	if _, has := d.forms[t]; !has {
		known = false
	}
	switch {
	case err != nil:
		leaveOut("%v", err)
		return nil
	case r.OctoDNS["ignored"] == true:
		leaveOut("octodns.ignored says that octoDNS does not manage it")
		return nil
	case r.Type == "ALIAS" || r.Type == "URLFWD":
		leaveOut("%s is not a DNS type; some services have it, but a Zone cannot", r.Type)
		return nil
	case !known:
		leaveOut("octoDNS has no such type that a Zone can hold")
		return nil
	case len(values) == 0:
		leaveOut("it has no value")
		return nil
	}
	if t == typeSPF {
		tell(content.Noted, "the type is obsolete (RFC 7208 §3.1); it is kept as TYPE99")
	}
	if r.Geo != nil || r.Dynamic != nil {
		tell(content.Changed, "geo and dynamic are left out: a Zone gives everybody the same answer, which is its value")
	}
	if r.OctoDNS["included"] != nil || r.OctoDNS["excluded"] != nil {
		tell(content.Noted, "octodns.included and excluded are left out: a Zone chooses its Backends with backendRefs")
	}
	ttl, err := r.ttl()
	if err != nil {
		leaveOut("%v", err)
		return nil
	}
	for _, value := range values {
		data, err := d.data(t, value)
		if err != nil {
			leaveOut("%v", err)
			continue
		}
		if err := d.zone.Add(content.Record{Name: name, Type: t, TTL: ttl, Data: data}); err != nil {
			return err
		}
	}
	return nil
}

// ttl returns the TTL, which may be a text as well.
func (r *record) ttl() (uint32, error) {
	if r.TTL == nil {
		return DefaultTTL, nil
	}
	text, err := scalar(r.TTL)
	if err != nil {
		return 0, fmt.Errorf("its ttl: %w", err)
	}
	ttl, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("its ttl %.50q is not a number of seconds", text)
	}
	return uint32(min(max(ttl, 0), math.MaxUint32)), nil
}

// typeOf reads the name of a type.
func typeOf(name string) (t rr.Type, known bool) {
	if name == "SPF" {
		return typeSPF, true
	}
	t, err := rr.ParseType(name)
	return t, err == nil
}

// typeSPF has no row of its own in package rr, and the form of TXT (RFC 7208 §3.1).
const typeSPF = rr.Type(99)

// data returns a value as a master file has it.
func (d *decoder) data(t rr.Type, value any) (string, error) {
	if t == rr.TypeTXT || t == typeSPF {
		return textData(t, value)
	}
	fields := d.forms[t]
	if fields == nil {
		return scalar(value)
	}
	members, ok := value.(map[string]any)
	if !ok {
		return "", fmt.Errorf("its value is not a map with %s", fields[0].name)
	}
	var out []string
	for _, f := range fields {
		v, there := members[f.name]
		if !there && f.alias != "" {
			v, there = members[f.alias]
		}
		if f.form == params {
			text, err := paramsData(v)
			if err != nil {
				return "", err
			}
			out = append(out, text...)
			continue
		}
		if !there {
			if f.unset == "" {
				return "", fmt.Errorf("its %s is missing", f.name)
			}
			v = f.unset
		}
		text, err := scalar(v)
		if err != nil {
			return "", fmt.Errorf("its %s: %w", f.name, err)
		}
		switch f.form {
		case quoted:
			text = `"` + unquote(text) + `"`
		case metres:
			text += "m"
		}
		out = append(out, text)
	}
	return strings.Join(out, " "), nil
}

// textData makes strings of 255 octets of a text.
func textData(t rr.Type, value any) (string, error) {
	text, err := scalar(value)
	if err != nil {
		return "", err
	}
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	text = strings.ReplaceAll(text, `" "`, "") // as octoDNS does
	strs, err := rr.Strings(`"` + unquote(text) + `"`)
	if err != nil || len(strs) != 1 {
		return "", fmt.Errorf("the text %.50q cannot be read", text)
	}
	data := rr.Text(strs[0])
	if t == rr.TypeTXT {
		return data, nil
	}
	wire, err := rr.Wire(rr.TypeTXT, data)
	return fmt.Sprintf(`\# %d %X`, len(wire), wire), err
}

// scalar returns a text or number as text.
func scalar(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case int:
		return strconv.Itoa(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	}
	return "", fmt.Errorf("%.50s is neither a text nor a number", fmt.Sprint(value))
}

// paramsData returns parameters of a service as words.
func paramsData(value any) ([]string, error) {
	if value == nil {
		return nil, nil
	}
	members, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("its svcparams are not a map")
	}
	var out []string
	for key, v := range members {
		if list, ok := v.([]any); ok {
			var items []string
			for _, item := range list {
				text, err := scalar(item)
				if err != nil {
					return nil, fmt.Errorf("its %s: %w", key, err)
				}
				items = append(items, text)
			}
			v = strings.Join(items, ",")
		}
		if v == nil {
			out = append(out, key)
			continue
		}
		text, err := scalar(v)
		if err != nil {
			return nil, fmt.Errorf("its %s: %w", key, err)
		}
		out = append(out, key+`="`+unquote(text)+`"`)
	}
	return out, nil
}
