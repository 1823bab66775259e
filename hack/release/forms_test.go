package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	provenancev1 "github.com/in-toto/attestation/go/predicates/provenance/v1"
	attestation "github.com/in-toto/attestation/go/v1"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"google.golang.org/protobuf/encoding/protojson"
)

func (s site) bills(t *testing.T) {
	valid := billSchema(t)
	for _, p := range s.release.programs {
		text := s.read(t, s.release.stem(p, s.release.platforms[0])+".cdx.json")
		if err := valid(text); err != nil {
			t.Errorf("the bill of %s: %v", p.name, err)
		}
		var bom cdx.BOM
		if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
			t.Fatal(err)
		}
		var listed []string
		for _, c := range *bom.Components {
			listed = append(listed, c.Name+" "+c.Version)
		}
		info, err := buildinfo.Read(bytes.NewReader(s.program(t, p)))
		if err != nil {
			t.Fatal(err)
		}
		there := []string{"std " + strings.TrimPrefix(runtime.Version(), "go")}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			there = append(there, m.Path+" "+m.Version)
		}
		if diff := cmp.Diff(there, listed); diff != "" || len(there) < 5 {
			t.Errorf("the modules of %s, %d, (-there +listed):\n%s", p.name, len(there), diff)
		}
	}
}

// billSchema returns what says whether a text is a bill of materials, by the published schema that the module brings.
func billSchema(t *testing.T) func([]byte) error {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for id, name := range map[string]string{"bom-1.6.schema.json": "bom-1.6.schema.json",
		"spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "schema", name))
		if err != nil {
			t.Fatal(err)
		}
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+id, schema); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return err
		}
		return schema.Validate(value)
	}
}

func (s site) provenance(t *testing.T) {
	var said attestation.Statement
	if err := protojson.Unmarshal(s.read(t, "provenance.intoto.json"), &said); err != nil {
		t.Fatal(err)
	}
	if err := said.Validate(); err != nil {
		t.Error(err)
	}
	predicate, err := protojson.Marshal(said.GetPredicate())
	if err != nil {
		t.Fatal(err)
	}
	var of provenancev1.Provenance
	if err := errors.Join(protojson.Unmarshal(predicate, &of), of.Validate()); err != nil {
		t.Error(err)
	}
	from := of.GetBuildDefinition().GetResolvedDependencies()[0]
	if got := from.GetDigest()["gitCommit"]; got != s.release.source.commit {
		t.Errorf("it is of the commit %s", got)
	}
	var files []made
	for _, subject := range said.GetSubject() {
		files = append(files, made{name: subject.GetName(), sha256: subject.GetDigest()["sha256"]})
	}
	own := sha256.Sum256(s.read(t, "provenance.intoto.json"))
	files = append(files, made{name: "provenance.intoto.json", sha256: hex.EncodeToString(own[:])})
	slices.SortFunc(files, func(a, b made) int { return strings.Compare(a.name, b.name) })
	if diff := cmp.Diff(string(s.read(t, "SHA256SUMS")), sums(files)); diff != "" {
		t.Errorf("files and their checksums (-there +listed):\n%s", diff)
	}
}

func (s site) plugin(t *testing.T) {
	root := t.TempDir()
	env := []string{"KREW_ROOT=" + root, "KREW_NO_UPGRADE_CHECK=1"}
	archive := s.release.archiveName(s.release.programs[0], s.release.platforms[0])
	krew := strings.TrimSpace(s.tool(t, "go", []string{"GOFLAGS="}, "tool", "-n", "-modfile=tools/release/go.mod", "krew"))
	s.tool(t, krew, env, "install", "--manifest="+filepath.Join(s.dir, "krew.yaml"),
		"--archive="+filepath.Join(s.dir, archive))
	installed := filepath.Join(root, "bin", "kubectl-zonefold")
	said, err := exec.CommandContext(t.Context(), installed, "--help").CombinedOutput()
	if err != nil || !strings.Contains(string(said), "kubectl zonefold [command]") {
		t.Errorf("the plugin says %s (%v)", said, err)
	}
	t.Run("but no other archive than that of the manifest", func(t *testing.T) {
		other := filepath.Join(s.dir, s.release.archiveName(s.release.programs[1], s.release.platforms[0]))
		cmd := exec.CommandContext(t.Context(), krew, "install", "--manifest="+filepath.Join(s.dir, "krew.yaml"),
			"--archive="+other)
		cmd.Dir, cmd.Env = repository, append(os.Environ(), "KREW_ROOT="+t.TempDir(), "KREW_NO_UPGRADE_CHECK=1")
		if said, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(said), "checksum does not match") {
			t.Errorf("krew says %s (%v)", said, err)
		}
	})
}
