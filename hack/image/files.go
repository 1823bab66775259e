package main

import (
	"archive/tar"
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// base holds the files that all images have; the Dockerfile copies the same folder.
//
//go:embed base
var base embed.FS

// certsPath is the first place where Go's crypto/x509 looks on Linux.
const certsPath = "/etc/ssl/certs/ca-certificates.crt"

// A file of an image. Files and links belong to root and have no time.
type file struct {
	text  []byte
	mode  int64
	link  string // what a symbolic link leads to; "" is none
	dir   bool
	owner int
}

// files are the content of a layer, by absolute path.
type files map[string]file

// baseFiles returns what all images have.
func baseFiles(certs string) (files, error) {
	text, err := os.ReadFile(certs)
	if err != nil {
		return nil, fmt.Errorf("reading the certificates of the public authorities (name another file with -certs): %w", err)
	}
	out := files{certsPath: {text: text, mode: 0o644}}
	err = fs.WalkDir(base, "base", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := base.ReadFile(name)
		out[strings.TrimPrefix(name, "base")] = file{text: text, mode: 0o644}
		return err
	})
	return out, err
}

// layer packs files, parents first.
func (f files) layer() (v1.Layer, error) {
	all := maps.Clone(f)
	for name := range f {
		for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
			if _, ok := all[dir]; !ok {
				all[dir] = file{dir: true, mode: 0o755}
			}
		}
	}
	var packed bytes.Buffer
	out := tar.NewWriter(&packed)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := all[name].pack(out, name); err != nil {
			return nil, fmt.Errorf("packing %s: %w", name, err)
		}
	}
	if err := out.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

func (f file) pack(out *tar.Writer, name string) error {
	header := tar.Header{Name: name[1:], Mode: f.mode, Size: int64(len(f.text)), Uid: f.owner, Gid: f.owner,
		Typeflag: tar.TypeReg}
	switch {
	case f.dir:
		header.Typeflag, header.Name = tar.TypeDir, header.Name+"/"
	case f.link != "":
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, f.link, 0o777
	}
	if err := out.WriteHeader(&header); err != nil {
		return err
	}
	_, err := out.Write(f.text)
	return err
}
