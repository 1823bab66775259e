package main

import (
	"context"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/hack/compile"
)

// The manifest of a plugin, by which krew installs it: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest.
type (
	pluginManifest struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   map[string]string `json:"metadata"`
		Spec       pluginSpec        `json:"spec"`
	}
	pluginSpec struct {
		Version          string           `json:"version"`
		Homepage         string           `json:"homepage"`
		ShortDescription string           `json:"shortDescription"`
		Description      string           `json:"description"`
		Platforms        []pluginPlatform `json:"platforms"`
	}
	pluginPlatform struct {
		Selector pluginSelector `json:"selector"`
		URI      string         `json:"uri"`
		SHA256   string         `json:"sha256"`
		Bin      string         `json:"bin"`
	}
	pluginSelector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	}
)

// plugin writes the manifest with which krew installs the command as kubectl zonefold.
func (r release) plugin(_ context.Context, at *folder) error {
	home := "https://" + compile.Module
	m := pluginManifest{APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin",
		Metadata: map[string]string{"name": "zonefold"},
		Spec: pluginSpec{Version: r.version.tag(), Homepage: home,
			ShortDescription: "See what becomes of DNS zones and records",
			Description: "zonefold shows what its operator makes of Zones and Records: which names are served, which are\n" +
				"refused and why, what a change would do, and how servers differ from what is wanted.\n"}}
	for _, p := range r.programs {
		for _, on := range r.platforms {
			if !p.people {
				continue
			}
			archive := r.archiveName(p, on)
			sum, err := at.sum(archive)
			if err != nil {
				return err
			}
			m.Spec.Platforms = append(m.Spec.Platforms, pluginPlatform{
				Selector: pluginSelector{map[string]string{"os": on.os, "arch": on.arch}},
				URI:      fmt.Sprintf("%s/releases/download/%s/%s", home, r.version.tag(), archive), SHA256: sum,
				Bin: p.fileName(on)})
		}
	}
	text, err := yaml.Marshal(m)
	if err != nil {
		return err
	}
	return at.write("krew.yaml", text)
}
