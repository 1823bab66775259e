package main

import (
	"context"
	"encoding/json"
	"runtime"

	"github.com/zonefold/zonefold/hack/compile"
)

// A statement says of files where they come from: in-toto's statement v1 with SLSA's provenance v1,
// https://slsa.dev/spec/v1.0/provenance. It has neither a time nor a machine, and so is the same wherever it is made.
type (
	statement struct {
		Type          string     `json:"_type"`
		Subject       []resource `json:"subject"`
		PredicateType string     `json:"predicateType"`
		Predicate     predicate  `json:"predicate"`
	}
	resource struct {
		Name   string            `json:"name,omitempty"`
		URI    string            `json:"uri,omitempty"`
		Digest map[string]string `json:"digest,omitempty"`
	}
	predicate struct {
		BuildDefinition buildDefinition `json:"buildDefinition"`
		RunDetails      runDetails      `json:"runDetails"`
	}
	buildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		InternalParameters   map[string]string `json:"internalParameters"`
		ResolvedDependencies []resource        `json:"resolvedDependencies"`
	}
	runDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	}
)

// provenance says of what is there so far where it comes from.
func (r release) provenance(_ context.Context, at *folder) error {
	home := "https://" + compile.Module
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, file := range at.sorted() {
		s.Subject = append(s.Subject, resource{Name: file.name, Digest: map[string]string{"sha256": file.sha256}})
	}
	s.Predicate.BuildDefinition = buildDefinition{
		BuildType:          home + "/blob/main/docs/versions.md#how-a-version-is-made",
		ExternalParameters: map[string]string{"source": home, "version": r.version.tag()},
		InternalParameters: map[string]string{"go": runtime.Version()},
		ResolvedDependencies: []resource{{URI: "git+" + home + "@refs/tags/" + r.version.tag(),
			Digest: map[string]string{"gitCommit": r.source.commit}}},
	}
	s.Predicate.RunDetails.Builder.ID = home + "/tree/main/hack/release"
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return at.write("provenance.intoto.json", append(text, '\n'))
}

// checksums lists all that is there, for sha256sum --check.
func (r release) checksums(_ context.Context, at *folder) error {
	return at.write("SHA256SUMS", []byte(sums(at.sorted())))
}
