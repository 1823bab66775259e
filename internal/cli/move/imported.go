package move

import (
	"bytes"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// Imported is what import prints as JSON of manifests that went to a folder.
type Imported struct {
	Zone    string         `json:"zone"`
	Read    int            `json:"read"` // records
	Objects int            `json:"objects"`
	Records int            `json:"records"` // that they have, beside the SOA
	LeftOut int            `json:"leftOut"` // lines, as on standard error
	Changed int            `json:"changed"`
	Files   []string       `json:"files"`
	Losses  []ImportedLoss `json:"losses"`
}

// An ImportedLoss is something that the manifests do not hold as it was, or that is worth knowing.
type ImportedLoss struct {
	Kind string `json:"kind"` // left out, changed or note
	What string `json:"what"`
	Why  string `json:"why"`
}

// A listWriter writes the YAML documents that it is given as a List in JSON, an object a line. Each Write has whole
// documents, and no scalar of them goes over lines.
type listWriter struct {
	out   io.Writer
	begun bool
}

const beginning = "---\n"

// Write implements io.Writer.
func (l *listWriter) Write(text []byte) (int, error) {
	for doc := range bytes.SplitSeq(bytes.TrimPrefix(text, []byte(beginning)), []byte("\n"+beginning)) {
		object, err := yaml.YAMLToJSON(doc)
		if err != nil {
			return 0, err
		}
		before := ",\n"
		if !l.begun {
			before = `{"apiVersion": "v1", "kind": "List", "items": [` + "\n"
		}
		l.begun = true
		if _, err := fmt.Fprintf(l.out, "%s%s", before, object); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

// end ends the List, if there is one.
func (l *listWriter) end() error {
	if !l.begun {
		return nil
	}
	_, err := io.WriteString(l.out, "\n]}\n")
	return err
}
