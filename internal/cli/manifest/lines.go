package manifest

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// placeOf returns the line on which a field of the document is set, or that of the
// nearest field above it.
func (d *document) placeOf(path string) Place {
	d.parsed.Do(func() {
		var root yaml.Node
		if yaml.Unmarshal(d.text, &root) == nil && len(root.Content) == 1 {
			d.root = root.Content[0]
		}
	})
	if d.root == nil {
		return Place{d.file, d.line}
	}
	at, line := d.root, d.root.Line
	for _, step := range steps(path) {
		key, value := child(at, step)
		if value == nil {
			break
		}
		at, line = value, key.Line
	}
	return d.place(line)
}

// place returns the place of a line of the document, counted from 1. Parsers know more
// kinds of line ends than editors, and may count lines that there are not.
func (d *document) place(line int) Place {
	last := bytes.Count(bytes.TrimSuffix(d.text, []byte("\n")), []byte("\n"))
	return Place{d.file, d.line + max(min(line-1, last), 0)}
}

// child returns a member of a mapping with its key, or an item of a sequence.
func child(n *yaml.Node, step string) (key, value *yaml.Node) {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i], n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
	}
	return nil, nil
}

// steps takes "spec.zones[2]" apart into spec, zones and 2. A key that has a dot or
// bracket itself is written [key], as the API server writes it.
func steps(path string) []string {
	var out []string
	for path != "" {
		if path[0] == '[' {
			inner, rest, ok := strings.Cut(path[1:], "]")
			if !ok {
				return append(out, path)
			}
			out, path = append(out, inner), strings.TrimPrefix(rest, ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(out, path)
		}
		out = append(out, path[:end])
		path = strings.TrimPrefix(path[end:], ".")
	}
	return out
}
