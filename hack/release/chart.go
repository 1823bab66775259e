package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// chartName is the chart's name, and what the manifest for those without Helm is rendered as.
const chartName = "zonefold"

// chartArchive is what Helm calls the archive.
func (r release) chartArchive() string { return fmt.Sprintf("%s-%s.tgz", chartName, r.version) }

// chart makes the chart as an archive and as an OCI artifact, and the manifest that it gives with its default values.
func (r release) chart(ctx context.Context, at *folder) error {
	dir, err := os.MkdirTemp("", "zonefold-release-")
	if err != nil {
		return fmt.Errorf("making a folder for the chart: %w", err)
	}
	defer os.RemoveAll(dir)
	// Helm knows what belongs into an archive, and gives it the times at which its files were written here.
	helm, err := r.helm(ctx)
	if err != nil {
		return err
	}
	if _, err := r.runProgram(ctx, helm, "package", "charts/"+chartName, "--version", string(r.version), "--app-version",
		r.version.tag(), "--destination", dir); err != nil {
		return err
	}
	packed, err := os.ReadFile(filepath.Join(dir, r.chartArchive()))
	if err != nil {
		return fmt.Errorf("reading the chart: %w", err)
	}
	files, err := unpack(packed)
	if err != nil {
		return err
	}
	metadata, err := r.annotate(files)
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	if packed, err = tarGzip(files, r.at()); err != nil {
		return err
	}
	if err := at.write(r.chartArchive(), packed); err != nil {
		return err
	}
	artifact, err := artifact(metadata, packed, r)
	if err != nil {
		return err
	}
	if err := at.write(fmt.Sprintf("zonefold-chart_%s_oci.tar", r.version.tag()), artifact); err != nil {
		return err
	}
	return r.install(ctx, helm, at)
}

// annotate adds to Chart.yaml, which is one of the files, what Artifact Hub shows of this version, and returns it.
func (r release) annotate(files []file) (map[string]any, error) {
	i := slices.IndexFunc(files, func(f file) bool { return f.name == chartName+"/Chart.yaml" })
	if i < 0 {
		return nil, fmt.Errorf("the chart has no Chart.yaml")
	}
	var metadata map[string]any
	if err := yaml.Unmarshal(files[i].text, &metadata); err != nil {
		return nil, fmt.Errorf("reading Chart.yaml: %w", err)
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
	}
	own, err := r.annotations(files)
	if err != nil {
		return nil, err
	}
	for name, value := range own {
		annotations[name] = value
	}
	metadata["annotations"] = annotations
	text, err := yaml.Marshal(metadata)
	if err != nil {
		return nil, fmt.Errorf("writing Chart.yaml: %w", err)
	}
	files[i].text = text
	return metadata, nil
}

// annotations are those of Artifact Hub that a version decides:
// https://artifacthub.io/docs/topics/annotations/helm.
func (r release) annotations(files []file) (map[string]string, error) {
	type named struct {
		Name  string `json:"name"`
		Image string `json:"image"`
	}
	var images []named
	for _, p := range r.programs {
		images = append(images, named{p.name, "docker.io/zonefold/" + p.name + ":" + r.version.tag()})
	}
	definitions, err := definitions(files)
	if err != nil {
		return nil, err
	}
	out := map[string]string{"artifacthub.io/prerelease": fmt.Sprint(r.version.early())}
	for name, value := range map[string]any{"images": images, "crds": definitions} {
		text, err := yaml.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("writing the annotation %s: %w", name, err)
		}
		out["artifacthub.io/"+name] = string(text)
	}
	return out, nil
}

// A definition is a CustomResourceDefinition as Artifact Hub lists it.
type definition struct {
	Kind        string `json:"kind"`
	Version     string `json:"version"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Description string `json:"description"`
}

// definitions are those that the chart has in files/crd.
func definitions(files []file) ([]definition, error) {
	var all []definition
	for _, f := range files {
		if !strings.HasPrefix(f.name, chartName+"/files/crd/") {
			continue
		}
		var crd struct {
			Metadata struct{ Name string }
			Spec     struct {
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPIV3Schema struct{ Description string }
					}
				}
			}
		}
		if err := yaml.Unmarshal(f.text, &crd); err != nil {
			return nil, fmt.Errorf("reading %s: %w", f.name, err)
		}
		for _, v := range crd.Spec.Versions {
			text := strings.Join(strings.Fields(v.Schema.OpenAPIV3Schema.Description), " ")
			all = append(all, definition{crd.Spec.Names.Kind, v.Name, crd.Metadata.Name, crd.Spec.Names.Kind, text})
		}
	}
	slices.SortFunc(all, func(a, b definition) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// install writes what the chart gives with its default values, and the namespace, as one file.
func (r release) install(ctx context.Context, helm string, at *folder) error {
	namespace, err := os.ReadFile(filepath.Join(r.root, "charts/namespace.yaml"))
	if err != nil {
		return fmt.Errorf("reading the namespace: %w", err)
	}
	chart, err := filepath.Abs(filepath.Join(at.path, r.chartArchive()))
	if err != nil {
		return err
	}
	rendered, err := r.runProgram(ctx, helm, "template", chartName, chart, "--namespace", "zonefold-system")
	if err != nil {
		return err
	}
	_, object, _ := strings.Cut(string(namespace), "\n") // below the line that says how it is made
	text := fmt.Sprintf("# zonefold %s as one file, for kubectl apply: the chart with its default values.\n%s%s",
		r.version.tag(), object, rendered)
	return at.write("install.yaml", []byte(text))
}

// helm returns the path of the Helm that charts/go.mod pins, which it has compiled if need be.
func (r release) helm(ctx context.Context) (string, error) {
	path, err := r.runGo(ctx, "tool", "-n", "-modfile=charts/go.mod", "helm")
	return strings.TrimSpace(string(path)), err
}
