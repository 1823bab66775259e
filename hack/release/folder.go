package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A folder is where the files of a release are put. It has no folders in it, as a page of downloads has none.
type folder struct {
	path  string
	files []made
	log   io.Writer
}

// A made file of the release.
type made struct {
	name, sha256 string
	size         int64
}

// write puts a file there.
func (f *folder) write(name string, text []byte) error {
	sum := sha256.Sum256(text)
	f.files = append(f.files, made{name, hex.EncodeToString(sum[:]), int64(len(text))})
	if err := os.WriteFile(filepath.Join(f.path, name), text, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	fmt.Fprintf(f.log, "%s  %s, %d octets\n", hex.EncodeToString(sum[:8]), name, len(text))
	return nil
}

// sorted returns the files by name.
func (f *folder) sorted() []made {
	return slices.SortedFunc(slices.Values(f.files), func(a, b made) int { return strings.Compare(a.name, b.name) })
}

// sum returns the checksum of a file that is there.
func (f *folder) sum(name string) (string, error) {
	for _, file := range f.files {
		if file.name == name {
			return file.sha256, nil
		}
	}
	return "", fmt.Errorf("there is no %s to refer to", name)
}

// size is how large all of it is, in octets.
func (f *folder) size() (all int64) {
	for _, file := range f.files {
		all += file.size
	}
	return all
}

// sums are checksums as sha256sum writes and reads them.
func sums(files []made) string {
	var out strings.Builder
	for _, file := range files {
		fmt.Fprintf(&out, "%s  %s\n", file.sha256, file.name)
	}
	return out.String()
}
