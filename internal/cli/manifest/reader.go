package manifest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/cli/parallel"
)

// A Reader reads the same paths again and again. Files that did not change keep their Objects, the very same ones. A
// file that cannot be read as a whole, maybe because somebody is writing it, counts as it was when it could.
type Reader struct {
	opts  Options
	files map[string]*part // what the files held when they could be read; nil before the first time
	stdin []byte           // which can be read only once
}

// NewReader returns a reader of paths.
func NewReader(opts Options) *Reader { return &Reader{opts: opts} }

// A part is what one file held.
type part struct {
	file
	content []byte // its text as inUTF8 has it
	docs    []*document
	read    []Input // of each document
}

// Read reads all objects of all paths. The error is that of a path which cannot be read; everything else is a Problem.
func (r *Reader) Read() (*Input, error) {
	opts := r.opts
	if r.stdin != nil {
		opts.Stdin = bytes.NewReader(r.stdin)
	}
	files, err := open(opts)
	if err != nil {
		return nil, err
	}
	parts, out := r.parse(files), &Input{}
	held := make(map[string]*part, len(parts))
	for _, p := range parts {
		if p.name == stdin {
			r.stdin, out.Stdin = p.text, p.text
		}
		old := r.files[p.name]
		fault := p.fault(old)
		if r.files != nil && fault == nil {
			fault = p.cut(old, r.opts.Valid)
		}
		switch {
		case r.files == nil || fault == nil:
			held[p.name] = p
		case old != nil:
			fault.Message = strings.TrimSuffix(fault.Message, ".") + "; what the file held before still counts."
			held[p.name], p = old, old
		default:
			fault.Message = strings.TrimSuffix(fault.Message, ".") + "; the file counts when it can be read."
			p = &part{}
		}
		out.add(p)
		if r.files != nil && fault != nil {
			out.Problems = append(out.Problems, *fault)
		}
	}
	r.files = held
	slices.SortStableFunc(out.Objects, func(a, b *Object) int { return a.Compare(b.Ref) })
	return out, nil
}

// parse parses the files that are not as they were, all documents beside each other.
func (r *Reader) parse(files []file) []*part {
	parts := make([]*part, len(files))
	var docs []*document
	var outs []*Input
	for i, f := range files {
		if old := r.files[f.name]; old != nil && bytes.Equal(old.text, f.text) {
			parts[i] = old
			continue
		}
		p := newPart(f)
		parts[i] = p
		for j := range p.docs {
			docs, outs = append(docs, p.docs[j]), append(outs, &p.read[j])
		}
	}
	step := func() {}
	if r.opts.Begin != nil {
		step = r.opts.Begin("reading documents", len(docs))
	}
	parallel.Do(len(docs), func(i int) {
		*outs[i] = docs[i].read(r.opts.Namespace)
		step()
	})
	return parts
}

// newPart returns a file with its documents, which are still to be read.
func newPart(f file) *part {
	p := &part{file: f}
	if f.list != nil {
		p.docs, p.read = []*document{{file: f.name, line: 1, list: f.list}}, make([]Input, 1)
		return p
	}
	content, err := inUTF8(f.text)
	if err != nil {
		in := Input{}
		in.unreadable(f.named || mentionsUs(bytes.ReplaceAll(f.text, []byte{0}, nil)), Problem{
			Place: Place{f.name, 1}, Reason: Unreadable, Message: "The file cannot be read: " + err.Error() + "."})
		p.read = []Input{in}
		return p
	}
	f.text, p.content = content, content
	p.docs = split(f)
	p.read = make([]Input, len(p.docs))
	return p
}

// fault returns why the file cannot be taken for what its author wants it to hold, nil if it can.
func (p *part) fault(old *part) *Problem {
	hadObjects := old != nil && slices.ContainsFunc(old.read, func(in Input) bool { return len(in.Objects) > 0 })
	if hadObjects && p.list == nil && len(bytes.TrimSpace(p.text)) == 0 {
		return &Problem{Place: Place{p.name, 1}, Reason: Unreadable, Message: "The file is empty"}
	}
	for _, in := range p.read {
		for _, q := range in.Problems {
			if q.Reason == Unreadable {
				return &q
			}
		}
		if hadObjects && len(in.Ignored) > 0 {
			q := in.Ignored[0]
			return &q
		}
	}
	return nil
}

func (in *Input) add(p *part) {
	for _, d := range p.read {
		in.Objects = append(in.Objects, d.Objects...)
		in.Problems = append(in.Problems, d.Problems...)
		in.Ignored = append(in.Ignored, d.Ignored...)
		in.Skipped = append(in.Skipped, d.Skipped...)
	}
}
