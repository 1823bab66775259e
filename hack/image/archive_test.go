package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"an image that does not exist", "bind9, bindcar, dnshook, operator, zonefold", []string{"nginx"}},
		{"a flag after a name", "flags come before", []string{"operator", "-version"}},
		{"a tag of an image that does not exist", "no image is called", []string{"-tag", "nginx=1"}},
		{"a tag that names a folder", "cannot be a tag", []string{"-tag", "bind9=../9"}},
		{"a tag that is empty", "cannot be a tag", []string{"-tag", "bind9"}},
		{"a version that is no tag", "cannot be a tag", []string{"-version", "1+2"}},
		{"another system", "linux/ARCHITECTURE", []string{"-platforms", "windows/amd64"}},
		{"no certificates", "-certs", []string{"-certs", "/nonexistent", "-out", t.TempDir(), "operator"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := run(t.Context(), c.args, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want words on %q", err, c.want)
			}
		})
	}
}

// makeArchive makes one image in a folder of its own and returns the archive.
func makeArchive(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := run(t.Context(), append([]string{"-out", dir}, args...), io.Discard); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Fatalf("%s holds %v, want one archive (%v)", dir, left, err)
	}
	return filepath.Join(dir, args[len(args)-1]+".tar")
}

// images returns the images, by platform, that an archive has under one name.
func images(t *testing.T, archive, name string) []v1.Image {
	t.Helper()
	dir := t.TempDir()
	unpack(t, bytes.NewReader(mustRead(t, archive)), dir)
	all, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifest.Manifests {
		if m.Annotations["io.containerd.image.name"] != name {
			continue
		}
		index, err := all.ImageIndex(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Index(index); err != nil {
			t.Fatalf("%s is no valid image: %v", name, err)
		}
		platforms, err := index.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		var found []v1.Image
		for _, p := range platforms.Manifests {
			img, err := index.Image(p.Digest)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, img)
		}
		return found
	}
	t.Fatalf("the archive has no %s: %+v", name, manifest.Manifests)
	return nil
}

func onlyImage(t *testing.T, archive, name string) v1.Image {
	t.Helper()
	found := images(t, archive, name)
	if len(found) != 1 {
		t.Fatalf("%s is for %d platforms, want 1", name, len(found))
	}
	return found[0]
}

// contents returns an image's files, after checking what holds for every image.
func contents(t *testing.T, img v1.Image) files {
	t.Helper()
	found := files{}
	in := mutate.Extract(img)
	defer in.Close()
	for archive := tar.NewReader(in); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Mode&0o6000 != 0 || header.Mode&0o2 != 0 && header.Mode&0o1000 == 0 && header.Typeflag != tar.TypeSymlink {
			t.Errorf("%s has mode %o", header.Name, header.Mode)
		}
		if header.ModTime.Unix() != 0 {
			t.Errorf("%s is of %s, so that the next image has another digest", header.Name, header.ModTime)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		found["/"+strings.Trim(header.Name, "/")] = file{text: text, mode: header.Mode, link: header.Linkname,
			dir: header.Typeflag == tar.TypeDir, owner: header.Uid}
	}
}

// names returns the paths of what is no folder.
func (f files) names() []string {
	var names []string
	for name, file := range f {
		if !file.dir {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (f files) size() int {
	sum := 0
	for _, file := range f {
		sum += len(file.text)
	}
	return sum
}

// unpack writes a tar file into a folder; owners and modes too where that is allowed.
func unpack(t *testing.T, in io.Reader, dir string) {
	t.Helper()
	for archive := tar.NewReader(in); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, header.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, header.FileInfo().Mode())
		case tar.TypeSymlink:
			err = os.Symlink(header.Linkname, path)
		default:
			var text []byte
			if text, err = io.ReadAll(archive); err == nil {
				err = os.WriteFile(path, text, header.FileInfo().Mode())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
