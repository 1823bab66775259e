package manifest

import (
	"bytes"
	"fmt"
)

// cut returns why a file seems to end in the middle of what its author wants it to hold, nil if it does not. Somebody
// may be writing it, or a copy of it broke off. YAML does not tell: what is there of it is often good YAML.
//
// A file that ends with a line "---" or "..." is whole, whatever it held before.
func (p *part) cut(old *part, valid func(*Object) bool) *Problem {
	if old == nil || len(p.docs) == 0 {
		return nil
	}
	last, read := p.docs[len(p.docs)-1], p.read[len(p.docs)-1]
	if last.json || !bytes.HasSuffix(p.content, last.text) {
		return nil
	}
	place := p.end()
	if inLine := p.endsInLine(old, last); inLine {
		return &Problem{Place: place, Reason: Unreadable, Message: "The file ends in the middle of a line that was longer; " +
			"if that is intended, end the line"}
	}
	missing, lost := p.lost(old)
	if lost && (begins(old.docs, last) != nil || !read.whole(last, valid)) {
		return &Problem{Place: place, Reason: Unreadable, Message: fmt.Sprintf(
			`The file ends in the middle of a document, and without %s, which it had; if that is intended, end it with a line "---"`, missing)}
	}
	return nil
}

// end returns the last line of a file.
func (p *part) end() Place {
	return Place{p.name, 1 + bytes.Count(bytes.TrimRight(p.content, "\n"), []byte("\n"))}
}

// endsInLine reports whether the file broke off before the end of a line that it had.
func (p *part) endsInLine(old *part, last *document) bool {
	if bytes.HasSuffix(p.content, []byte("\n")) || !bytes.HasSuffix(old.content, []byte("\n")) {
		return false
	}
	whole := begins(old.docs, last)
	return whole != nil && !bytes.ContainsRune([]byte("\r\n"), rune(whole.text[len(last.text)]))
}

// begins returns the document of which another is but the beginning.
func begins(docs []*document, beginning *document) *document {
	text := bytes.TrimRight(beginning.text, " \t\r\n")
	for _, d := range docs {
		if bytes.HasPrefix(d.text, text) && len(bytes.TrimRight(d.text, " \t\r\n")) > len(text) {
			return d
		}
	}
	return nil
}

// lost returns an object that a file has no more.
func (p *part) lost(old *part) (Ref, bool) {
	has := map[Ref]bool{}
	for _, in := range p.read {
		for _, o := range in.Objects {
			has[o.Ref] = true
		}
	}
	for _, in := range old.read {
		for _, o := range in.Objects {
			if !has[o.Ref] {
				return o.Ref, true
			}
		}
	}
	return Ref{}, false
}

// whole reports whether a document can be all that its author wants it to hold: objects without a fault, or one of
// others.
func (in *Input) whole(d *document, valid func(*Object) bool) bool {
	if len(in.Problems) > 0 {
		return false
	}
	for _, o := range in.Objects {
		if o.Fault != "" || valid != nil && !valid(o) {
			return false
		}
	}
	if len(in.Objects) > 0 {
		return true
	}
	text, err := d.toJSON(&reader{doc: d})
	if err != nil {
		return false
	}
	h, ok := readHead(text)
	return ok && h.APIVersion != "" && h.Kind != "" && (h.Name != "" || h.Items != nil)
}
