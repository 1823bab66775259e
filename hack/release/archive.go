package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"
)

// A file of an archive.
type file struct {
	name string // with slashes
	text []byte
	run  bool // it is a program
}

func (f file) mode() int64 {
	if f.run {
		return 0o755
	}
	return 0o644
}

// tarball packs files in their order. Nothing in it depends on who makes it, and all of it is of one time.
func tarball(files []file, at time.Time) ([]byte, error) {
	var packed bytes.Buffer
	out := tar.NewWriter(&packed)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode(), Size: int64(len(f.text)), ModTime: at,
			Format: tar.FormatUSTAR}
		if err := out.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.name, err)
		}
		if _, err := out.Write(f.text); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.name, err)
		}
	}
	if err := out.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return packed.Bytes(), nil
}

// tarGzip is tarball, compressed. Package gzip writes no time and no name unless it is told to.
func tarGzip(files []file, at time.Time) ([]byte, error) {
	text, err := tarball(files, at)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	out := gzip.NewWriter(&packed)
	_, err = out.Write(text)
	if err := errors.Join(err, out.Close()); err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	return packed.Bytes(), nil
}

// unpack returns the files of what tarGzip has packed, or somebody else.
func unpack(packed []byte) ([]file, error) {
	text, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("reading the archive: %w", err)
	}
	var files []file
	for in := tar.NewReader(text); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the archive: %w", err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, fmt.Errorf("reading %s of the archive: %w", header.Name, err)
		}
		files = append(files, file{header.Name, text, header.Mode&0o111 != 0})
	}
}

// zipped packs files for Windows.
func zipped(files []file, at time.Time) ([]byte, error) {
	var packed bytes.Buffer
	out := zip.NewWriter(&packed)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at.UTC()}
		header.SetMode(0o644)
		to, err := out.CreateHeader(header)
		if err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.name, err)
		}
		if _, err := to.Write(f.text); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.name, err)
		}
	}
	if err := out.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return packed.Bytes(), nil
}
