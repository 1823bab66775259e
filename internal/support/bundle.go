package support

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// A file of the bundle.
type file struct {
	name string
	text string
}

// errFull says that nothing more has room.
var errFull = errors.New("the bundle has no room for more")

// A bundle is what was gathered so far.
type bundle struct {
	files   []file
	missing []string // sentences
	room    int64    // octets that are left
}

// add adds a file, if there is room for it.
func (b *bundle) add(name, text string) error {
	if int64(len(text)) > b.room {
		return errFull
	}
	b.room -= int64(len(text))
	b.files = append(b.files, file{name, text})
	return nil
}

// addJSON adds a value.
func (b *bundle) addJSON(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return b.add(name, string(text)+"\n")
}

// lacks notes what the bundle does not have, and why.
func (b *bundle) lacks(what string, why error) {
	b.missing = append(b.missing, fmt.Sprintf("%s: %s", what, userinfo.ReplaceAllString(why.Error(), "://"+leftOut+"@")))
}

// contents is the file that says what the others are.
type contents struct {
	Version string   `json:"version"` // of the command
	Time    string   `json:"time"`
	Redact  bool     `json:"redact"` // data of records is hashed
	Files   []string `json:"files"`
	Missing []string `json:"missing"` // what was not allowed, not there, or too large
}

// write writes the bundle as tar.gz, each text with what the replacer makes of it.
func (b *bundle) write(out io.Writer, about contents, now time.Time, replace *strings.Replacer) error {
	about.Files = []string{}
	for _, f := range b.files {
		about.Files = append(about.Files, f.name)
	}
	if about.Missing = b.missing; about.Missing == nil {
		about.Missing = []string{}
	}
	text, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the contents of the bundle: %w", err)
	}
	packed := gzip.NewWriter(out)
	archive := tar.NewWriter(packed)
	for _, f := range append([]file{{"contents.json", string(text) + "\n"}}, b.files...) {
		body := replace.Replace(f.text)
		header := &tar.Header{Name: folder + "/" + f.name, Mode: 0o600, Size: int64(len(body)), ModTime: now,
			Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("writing %s into the bundle: %w", f.name, err)
		}
		if _, err := io.WriteString(archive, body); err != nil {
			return fmt.Errorf("writing %s into the bundle: %w", f.name, err)
		}
	}
	if err := errors.Join(archive.Close(), packed.Close()); err != nil {
		return fmt.Errorf("writing the bundle: %w", err)
	}
	return nil
}

// folder is what the archive unpacks to.
const folder = "zonefold-support"
