package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The media types of charts in registries (Helm's HIP 6).
const (
	chartConfig  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	chartContent types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// artifact packs a chart's archive as an OCI layout in a tar file, as registries have it. Metadata is Chart.yaml's.
func artifact(metadata map[string]any, archive []byte, r release) ([]byte, error) {
	config, err := json.Marshal(metadata)
	if err != nil {
		return nil, fmt.Errorf("writing the chart's metadata: %w", err)
	}
	manifest := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: described(chartConfig, config),
		Layers: []v1.Descriptor{described(chartContent, archive)},
		Annotations: map[string]string{
			"org.opencontainers.image.title":    chartName,
			"org.opencontainers.image.version":  string(r.version),
			"org.opencontainers.image.created":  r.at().Format(time.RFC3339),
			"org.opencontainers.image.revision": r.source.commit,
		}}
	text, err := json.Marshal(manifest)
	if err != nil {
		return nil, fmt.Errorf("writing the chart's manifest: %w", err)
	}
	entry := described(types.OCIManifestSchema1, text)
	entry.Annotations = map[string]string{"org.opencontainers.image.ref.name": string(r.version)}
	index, err := json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex,
		Manifests: []v1.Descriptor{entry}})
	if err != nil {
		return nil, fmt.Errorf("writing the index of the chart's layout: %w", err)
	}
	files := []file{{name: "oci-layout", text: []byte(`{"imageLayoutVersion":"1.0.0"}`)}, {name: "index.json", text: index}}
	for _, blob := range [][]byte{config, archive, text} {
		files = append(files, file{name: "blobs/sha256/" + described("", blob).Digest.Hex, text: blob})
	}
	return tarball(files, r.at())
}

// described says how a part is referred to.
func described(media types.MediaType, part []byte) v1.Descriptor {
	sum := sha256.Sum256(part)
	return v1.Descriptor{MediaType: media, Size: int64(len(part)), Digest: v1.Hash{Algorithm: "sha256",
		Hex: hex.EncodeToString(sum[:])}}
}
