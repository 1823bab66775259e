package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"sigs.k8s.io/yaml"
)

// helm runs Helm in the repository and returns what it prints.
func (s site) helm(t *testing.T, args ...string) string {
	t.Helper()
	return s.tool(t, s.helmPath, nil, args...)
}

func (s site) chart(t *testing.T) {
	archive := filepath.Join(s.dir, "zonefold-0.8.15-rc.1.tgz")
	if said := s.helm(t, "lint", "--strict", archive); !strings.Contains(said, "0 chart(s) failed") {
		t.Errorf("helm lint says %s", said)
	}
	rendered := s.helm(t, "template", "x", archive, "--set", "dialects.bindy=true,dialects.homelab=true")
	if !strings.Contains(rendered, "image: \"zonefold/operator:v0.8.15-rc.1\"") {
		t.Error("the chart does not run the operator of the release")
	}
	var metadata struct {
		Version, AppVersion string
		Annotations         map[string]string
	}
	if err := yaml.Unmarshal([]byte(s.helm(t, "show", "chart", archive)), &metadata); err != nil {
		t.Fatal(err)
	}
	if metadata.Version != "0.8.15-rc.1" || metadata.AppVersion != "v0.8.15-rc.1" {
		t.Errorf("the chart is %s of %s", metadata.Version, metadata.AppVersion)
	}
	var images, crds []map[string]string
	for text, into := range map[string]*[]map[string]string{"images": &images, "crds": &crds} {
		if err := yaml.Unmarshal([]byte(metadata.Annotations["artifacthub.io/"+text]), into); err != nil {
			t.Fatal(err)
		}
	}
	if len(images) != 2 || images[0]["image"] != "docker.io/zonefold/zonefold:v0.8.15-rc.1" ||
		images[1]["image"] != "docker.io/zonefold/bindcar:v0.8.15-rc.1" {
		t.Errorf("its images are %v", images)
	}
	files, err := filepath.Glob(filepath.Join(repository, "config", "crd", "*.yaml"))
	if err != nil || len(files) != len(crds) {
		t.Errorf("Artifact Hub is told of %d definitions, and there are %d (%v)", len(crds), len(files), err)
	}
	for name, want := range map[string]string{"prerelease": "true", "license": "Apache-2.0", "operator": "true"} {
		if got := metadata.Annotations["artifacthub.io/"+name]; got != want {
			t.Errorf("the annotation %s is %q, want %s", name, got, want)
		}
	}
}

func (s site) registry(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	files := map[string][]byte{}
	for _, f := range entries(t, s.read(t, "zonefold-chart_v0.8.15-rc.1_oci.tar")) {
		files[f.name] = f.text
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(files["index.json"], &index); err != nil {
		t.Fatal(err)
	}
	entry := index.Manifests[0]
	for name, blob := range files {
		if digest, ok := strings.CutPrefix(name, "blobs/sha256/"); ok && digest != entry.Digest.Hex {
			send(t, http.MethodPost, server.URL+"/v2/zonefold/blobs/uploads/?digest=sha256:"+digest, "", blob)
		}
	}
	send(t, http.MethodPut, server.URL+"/v2/zonefold/manifests/"+entry.Annotations["org.opencontainers.image.ref.name"],
		string(entry.MediaType), files["blobs/sha256/"+entry.Digest.Hex])
	got := t.TempDir()
	s.helm(t, "pull", "oci://"+address+"/zonefold", "--version", "0.8.15-rc.1", "--plain-http", "--destination", got)
	pulled, err := os.ReadFile(filepath.Join(got, "zonefold-0.8.15-rc.1.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pulled, s.read(t, "zonefold-0.8.15-rc.1.tgz")) {
		t.Error("Helm gets another archive from a registry than that of the release")
	}
}

// send makes a request that has to succeed.
func send(t *testing.T, method, url, media string, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", media)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		text, _ := io.ReadAll(answer.Body)
		t.Fatalf("%s %s: %s: %s", method, url, answer.Status, text)
	}
}

func (s site) manifest(t *testing.T) {
	committed, err := os.ReadFile(filepath.Join(repository, "config", "install", "zonefold.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(string(committed), "\n")
	want = strings.NewReplacer("app.kubernetes.io/version: 0.1.0", "app.kubernetes.io/version: v0.8.15-rc.1",
		"zonefold/operator:0.1.0", "zonefold/operator:v0.8.15-rc.1").Replace(want)
	_, got, _ := strings.Cut(string(s.read(t, "install.yaml")), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config/install/zonefold.yaml (-) and the release (+):\n%s", diff)
	}
}
