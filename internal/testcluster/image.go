package testcluster

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// writeImage writes an archive, in the format of "docker save", of an image that holds one static program.
func writeImage(archive, name, program string) error {
	code, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("making the image %s: %w", name, err)
	}
	base := filepath.Base(program)
	layer, err := tarOf(map[string][]byte{base: code}, 0o755)
	if err != nil {
		return fmt.Errorf("making the image %s: %w", name, err)
	}
	digest := sha256.Sum256(layer)
	config, err := json.Marshal(object{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": object{"Entrypoint": []string{"/" + base}, "User": "65534:65534"},
		"rootfs": object{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(digest[:])}},
	})
	if err != nil {
		return fmt.Errorf("describing the image %s: %w", name, err)
	}
	manifest, err := json.Marshal([]object{{"Config": "config.json", "RepoTags": []string{name}, "Layers": []string{
		"layer.tar"}}})
	if err != nil {
		return fmt.Errorf("describing the image %s: %w", name, err)
	}
	whole, err := tarOf(map[string][]byte{"manifest.json": manifest, "config.json": config, "layer.tar": layer}, 0o644)
	if err != nil {
		return fmt.Errorf("making the image %s: %w", name, err)
	}
	return os.WriteFile(archive, whole, 0o644)
}

func tarOf(files map[string][]byte, mode int64) ([]byte, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for name, content := range files {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := archive.Write(content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), archive.Close()
}
