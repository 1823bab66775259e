// Package zonefile reads master files (RFC 1035 §5) as people write them, with $INCLUDE and $GENERATE. miekg/dns reads
// the text; what a file may cost, which others it may include, and which TTL a record has that says none is decided
// here.
package zonefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/rr"
)

// What a file may cost.
const (
	MaxLine     = 512 << 10 // octets: more than the longest record takes, each octet written as \DDD
	MaxSilence  = 16 << 20  // octets that no record comes of
	MaxIncludes = 1000      // files, the same one counted each time
)

// unstated is the TTL of a record for which the file says none, unless the source knows better: a file may say it,
// although it is too high (RFC 2181 §8).
const unstated = 1<<32 - 1

// Options say what is read.
type Options struct {
	Name string // of the file, in Folder, for messages and for what it includes
	// Folder has the files that may be included. Nil: none may.
	Folder fs.FS
	// Step is told of octets that were read. Nil: nobody asks.
	Step func(octets int)
}

// Read adds the records of a master file to a zone. The error says where the file cannot be read; the zone then lacks
// what follows.
func Read(r io.Reader, zone *content.Zone, opts Options) error {
	b := &bounds{}
	first := newSource(r, opts.Name, b)
	first.step, b.last = opts.Step, first
	parser := dns.NewZoneParser(first, zone.Origin.String(), opts.Name)
	if opts.Folder != nil {
		parser.SetIncludeAllowed(true)
		parser.SetIncludeFS(folder{opts.Folder, b})
	}
	decoder := rr.Decoder{Text: true}
	for record, ok := parser.Next(); ok; record, ok = parser.Next() {
		b.silence = 0
		if err := b.add(zone, &decoder, record); err != nil {
			return fmt.Errorf("%s: %w", opts.Name, err)
		}
	}
	if err := parser.Err(); err != nil {
		return b.explain(opts, err)
	}
	return nil
}

// add takes one record, with the TTL that it has if it says none: that of $TTL, else the last one that was stated (RFC
// 1035 §5.1), else the minimum of the SOA (RFC 2308 §4).
func (b *bounds) add(zone *content.Zone, decoder *rr.Decoder, record dns.RR) error {
	h := record.Header()
	soa, isSOA := record.(*dns.SOA)
	switch {
	case h.Ttl != unstated || b.states:
		b.stated = new(h.Ttl)
	case b.ttl != nil:
		h.Ttl = *b.ttl
	case b.stated != nil:
		h.Ttl = *b.stated
	case isSOA:
		h.Ttl = soa.Minttl
	case zone.HasSOA():
		h.Ttl = zone.SOA.Minimum
	default:
		return fmt.Errorf("%s %s has no TTL, and there is no $TTL before it and no SOA; begin the file with $TTL 3600",
			h.Name, dns.Type(h.Rrtype))
	}
	key, data, err := decoder.Decode(record)
	if err != nil {
		zone.LeaveOut(strings.Join(strings.Fields(record.String()), " "), err.Error())
		return nil
	}
	return zone.Add(content.Record{Name: key.Name, Type: key.Type, TTL: h.Ttl, Data: data})
}

// lineOf finds the number of a line in what the parser says.
var lineOf = regexp.MustCompile(`at line: (\d+):`)

// explain makes a sentence of what the parser says, which counts the lines that it was given.
func (b *bounds) explain(opts Options, err error) error {
	var own *boundError
	if errors.As(err, &own) {
		return own
	}
	text := lineOf.ReplaceAllStringFunc(err.Error(), func(at string) string {
		n, _ := strconv.Atoi(lineOf.FindStringSubmatch(at)[1])
		return fmt.Sprintf("at line: %d:", n-b.last.extra)
	})
	text = strings.Replace(strings.TrimPrefix(text, opts.Name+": "), "dns: ", "", 1)
	switch {
	case strings.Contains(text, "$INCLUDE directive not allowed"):
		return fmt.Errorf("%s: the standard input cannot include files; name the file instead: %s", opts.Name, text)
	case strings.Contains(text, "too deeply nested $INCLUDE"):
		return fmt.Errorf("%s: files include each other more than seven deep: %s", opts.Name, text)
	case strings.Contains(text, "not a TTL: "):
		if _, word, ok := strings.Cut(text, `not a TTL: "`); ok {
			word, _, _ = strings.Cut(word, `"`)
			if _, problem := rr.ParseType(word); problem != nil && word == strings.ToUpper(word) && word > "A" {
				return fmt.Errorf("%s: %s: %w", opts.Name, text, problem)
			}
		}
	}
	return fmt.Errorf("%s: %s; correct the file", opts.Name, text)
}

// A folder opens files that are included, each within the bounds of the whole reading.
type folder struct {
	fs.FS

	bounds *bounds
}

// escaped finds the characters of a file name that was in quotes: see cutQuoted.
var escaped = regexp.MustCompile(`\\(\d{3})`)

// Open opens a file that is in the folder, or below it.
func (f folder) Open(name string) (fs.File, error) {
	name = escaped.ReplaceAllStringFunc(name, func(c string) string {
		n, _ := strconv.Atoi(c[1:])
		return string(rune(n))
	})
	if f.bounds.includes++; f.bounds.includes > MaxIncludes {
		return nil, f.bounds.exceeded("it includes more than %d files", MaxIncludes)
	}
	if !fs.ValidPath(name) || path.IsAbs(name) {
		return nil, f.bounds.exceeded(
			"$INCLUDE of %q: only files of the folder of the first file, and below it, are included; copy the file there", name)
	}
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil, f.bounds.exceeded("$INCLUDE of %q: it is not a regular file", name)
	}
	return &included{source: newSource(file, name, f.bounds), file: file}, nil
}

// An included file is read byte by byte, as the parser likes it.
type included struct {
	*source

	file fs.File
}

// Stat is that of the file.
func (i *included) Stat() (fs.FileInfo, error) { return i.file.Stat() }

// Close closes the file.
func (i *included) Close() error { return i.file.Close() }
