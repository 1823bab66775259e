package command

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// InputFlags say which objects to work on.
type InputFlags struct {
	Files     []string
	Kustomize []string // folders
	Namespace string

	Built []manifest.Text // what was made of these
}

// Register adds the flags to a command.
func (f *InputFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.Files, "filename", "f", nil,
		"a file, a folder with everything below it (*.yaml, *.yml, *.json), or - for the standard input; repeatable")
	cmd.Flags().StringVarP(&f.Namespace, "namespace", "n", "default", "the namespace of objects without one")
}

// RegisterKustomize adds the flag for objects that kustomize makes of files.
func (f *InputFlags) RegisterKustomize(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.Kustomize, "kustomize", "k", nil,
		"a folder with a kustomization, which kubectl or kustomize builds; repeatable")
}

// FromFiles reports whether objects are those of files, and not of a cluster.
func (f *InputFlags) FromFiles() bool { return len(f.Files)+len(f.Kustomize) > 0 }

// ErrNothing says that there is no -f.
var ErrNothing = errors.New("nothing to read; name files, folders or - (standard input) with -f")

// Read reads the objects, and tells on standard error what it left out.
func (f *InputFlags) Read(env Env, p *Progress) (*manifest.Input, error) {
	if !f.FromFiles() {
		return nil, ErrNothing
	}
	p.Begin("reading files", 0)
	f.Built = nil
	for _, folder := range f.Kustomize {
		text, err := kustomize(folder)
		if err != nil {
			return nil, err
		}
		f.Built = append(f.Built, text)
	}
	in, err := manifest.Read(manifest.Options{Paths: f.Files, Texts: f.Built, Stdin: env.Stdin, Namespace: f.Namespace,
		Begin: p.Begin})
	if err != nil {
		return nil, err
	}
	for _, p := range in.Ignored {
		fmt.Fprintf(env.Stderr, "%s: left out: %s\n", plain.Line(p.Place.String()), plain.Line(p.Message))
	}
	return in, nil
}

// Complain tells on standard error what is not in the output at all. It fails if a document could not be read, since
// zones may lack what stands there, and if none of the inputs has anything that is known.
func Complain(env Env, inputs ...*manifest.Input) error {
	broken, objects := false, 0
	others := map[string]int{}
	for _, input := range inputs {
		objects += len(input.Objects) + len(input.Problems)
		for _, what := range input.Skipped {
			others[plain.Line(what)]++
		}
		for _, p := range input.Problems {
			switch p.Reason {
			case manifest.Unreadable, manifest.NoObject, manifest.UnknownKind:
				fmt.Fprintf(env.Stderr, "%s: error: %s\n", plain.Line(p.Place.String()), plain.Line(p.Message))
				broken = broken || p.Reason == manifest.Unreadable
			}
		}
	}
	switch {
	case broken:
		return errors.New("a document could not be read, so the output is not complete")
	case objects == 0 && len(others) > 0:
		return fmt.Errorf("zonefold does not know the kinds of the input: %s; correct apiVersion and kind, or name files "+
			"with zonefold's objects with -f", Tally(others))
	}
	return nil
}

// maxTally is how many kinds of others are told.
const maxTally = 12

// Tally says how many there are of what.
func Tally(counts map[string]int) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d × %s", counts[what], what))
	}
	if len(parts) > maxTally {
		parts = append(parts[:maxTally], "and others")
	}
	return strings.Join(parts, ", ")
}
