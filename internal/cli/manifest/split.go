package manifest

import (
	"bytes"
	"encoding/json"
	"sync"

	"go.yaml.in/yaml/v3"
)

// A document is one YAML document, or one value of a stream of JSON values.
type document struct {
	file  string
	line  int // of its first line in the file
	text  []byte
	named bool
	json  bool
	list  *List // in place of text

	parsed sync.Once
	root   *yaml.Node
}

// split cuts a file, as inUTF8 has it, into its documents. A line that begins with "---" or "..." ends a
// document wherever it stands, also in a block of text (YAML 1.2 §9.1.2).
func split(f file) []*document {
	text := f.text
	var docs []*document
	begin, beginLine := 0, 1
	blank, marked := true, false // no content so far; a "---" so far
	end := func(at int) {
		if !blank {
			docs = append(docs, values(&document{file: f.name, line: beginLine, text: text[begin:at], named: f.named})...)
		}
	}
	line := 1
	for at := 0; at < len(text); line++ {
		next := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		row := text[at:next]
		switch {
		case marks(row, "---"):
			if !blank || marked {
				end(at)
				begin, beginLine = at, line
			}
			blank, marked = len(bytes.TrimSpace(row[3:])) == 0, true
		case marks(row, "..."):
			end(at)
			begin, beginLine, blank, marked = next, line+1, true, false
		case blank:
			row = bytes.TrimSpace(row)
			blank = len(row) == 0 || row[0] == '#' || row[0] == '%'
		}
		at = next
	}
	end(len(text))
	return docs
}

// marks reports whether a line is a document marker.
func marks(row []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(row, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// values returns the JSON values of a document that is a stream of JSON objects, else
// the document itself.
func values(d *document) []*document {
	if text := bytes.TrimSpace(d.text); len(text) == 0 || text[0] != '{' {
		return []*document{d}
	}
	var docs []*document
	in := json.NewDecoder(bytes.NewReader(d.text))
	line, from := d.line, 0
	for in.More() {
		var value json.RawMessage
		if in.Decode(&value) != nil {
			return []*document{d} // a flow mapping of YAML
		}
		begin := int(in.InputOffset()) - len(value)
		line, from = line+bytes.Count(d.text[from:begin], []byte("\n")), begin
		docs = append(docs, &document{file: d.file, line: line, text: value, named: d.named, json: true})
	}
	return docs
}
