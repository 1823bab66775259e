package main

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/zonefold/zonefold/hack/compile"
)

// A billed program is what a bill of materials is of.
type billed struct {
	name, version string
	on            platform
	at            time.Time
}

func subjectOf(r release, p program, on platform) billed {
	return billed{p.name, r.version.tag(), on, r.at()}
}

// bill lists the modules that Go says a program is made of, and Go's own library, in the form of CycloneDX 1.6.
func bill(info *debug.BuildInfo, of billed) ([]byte, error) {
	program := cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: of.name, Version: of.version,
		PackageURL: fmt.Sprintf("%s?goarch=%s&goos=%s#cmd/%s", purl(compile.Module, of.version), of.on.arch, of.on.os,
			of.name),
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}
	program.BOMRef = program.PackageURL
	components := []cdx.Component{library("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		components = append(components, library(module.Path, module.Version, module.Sum))
	}
	var refs []string
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	slices.Sort(refs)
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: of.at.Format(time.RFC3339), Component: &program,
		Tools: &cdx.ToolsChoice{Components: &[]cdx.Component{{Type: cdx.ComponentTypeApplication,
			Name: compile.Module + "/hack/release", Version: of.version}}}}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	var out bytes.Buffer
	if err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).
		EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// library is a module. Its checksum is Go's, of all files together, and so none of those that the format knows.
func library(path, version, sum string) cdx.Component {
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: purl(path, version)}
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go.sum", Value: sum}}
	}
	c.BOMRef = c.PackageURL
	return c
}

// purl is a module's package URL, in which names are in small letters and a plus of a version is escaped.
func purl(path, version string) string {
	return "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")
}
