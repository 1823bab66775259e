package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A build is an image for one platform.
type build struct {
	platform v1.Platform
	config   v1.Config
	created  time.Time
	layers   []files
}

// image packs it. An image is as old as its source; its files are of 1970.
func (b build) image() (v1.Image, error) {
	created := v1.Time{Time: b.created.UTC()}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, f := range b.layers {
		layer, err := f.layer()
		if err != nil {
			return nil, err
		}
		history := v1.History{Created: created, CreatedBy: "hack/image"}
		if img, err = mutate.Append(img, mutate.Addendum{Layer: layer, History: history}); err != nil {
			return nil, fmt.Errorf("adding a layer: %w", err)
		}
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the image's configuration: %w", err)
	}
	config = config.DeepCopy()
	config.Created, config.Config = created, b.config
	config.OS, config.Architecture, config.Variant = b.platform.OS, b.platform.Architecture, b.platform.Variant
	return mutate.ConfigFile(img, config)
}

// index makes one image of builds for several platforms.
func index(builds []build) (v1.ImageIndex, error) {
	out := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range builds {
		img, err := b.image()
		if err != nil {
			return nil, fmt.Errorf("for %s: %w", b.platform, err)
		}
		out = mutate.AppendManifests(out, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &b.platform}})
	}
	return out, nil
}

// archive writes an image under its names, which are complete, into one tar file, and returns the image's digest.
func archive(path string, image v1.ImageIndex, names []string) (digest v1.Hash, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return digest, fmt.Errorf("making the folder of the archives: %w", err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".layout-")
	if err != nil {
		return digest, fmt.Errorf("making a folder for the image's parts: %w", err)
	}
	defer os.RemoveAll(dir)
	all := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, name := range names {
		all = mutate.AppendManifests(all, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Annotations: annotations(name)}})
	}
	if _, err := layout.Write(filepath.Join(dir, "image"), all); err != nil {
		return digest, fmt.Errorf("writing the image's parts: %w", err)
	}
	if err := pack(filepath.Join(dir, "image.tar"), filepath.Join(dir, "image")); err != nil {
		return digest, err
	}
	if err := os.Rename(filepath.Join(dir, "image.tar"), path); err != nil {
		return digest, fmt.Errorf("putting the archive in its place: %w", err)
	}
	return image.Digest()
}

// annotations carry an image's name: containerd reads the first, other tools know the second, which is the tag alone
// (OCI image specification, annotations).
func annotations(name string) map[string]string {
	return map[string]string{
		"io.containerd.image.name":          name,
		"org.opencontainers.image.ref.name": name[strings.LastIndex(name, ":")+1:],
	}
}

// pack writes a folder as a tar file in which nothing depends on when and by whom it was made.
func pack(path, dir string) (err error) {
	to, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("making the archive: %w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	out := tar.NewWriter(to)
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		return file{text: text, mode: 0o644}.pack(out, "/"+filepath.ToSlash(inside))
	})
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	return nil
}
