package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// InputFlags say which objects to work on.
type InputFlags struct {
	Files     []string
	Namespace string
}

// Register adds the flags to a command.
func (f *InputFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.Files, "filename", "f", nil,
		"a file, a folder with everything below it (*.yaml, *.yml, *.json), or - for the standard input; repeatable")
	cmd.Flags().StringVarP(&f.Namespace, "namespace", "n", "default", "the namespace of objects that do not say theirs")
}

// ErrNothing says that there is no -f.
var ErrNothing = errors.New("there is nothing to read: say with -f which files, folders or - (standard input)")

// Read reads the objects, and tells on standard error what it left out.
func (f *InputFlags) Read(env Env, p *Progress) (*manifest.Input, error) {
	if len(f.Files) == 0 {
		return nil, ErrNothing
	}
	p.Begin("reading files", 0)
	in, err := manifest.Read(manifest.Options{Paths: f.Files, Stdin: env.Stdin, Namespace: f.Namespace, Begin: p.Begin})
	if err != nil {
		return nil, err
	}
	for _, p := range in.Ignored {
		fmt.Fprintf(env.Stderr, "%s: left out: %s\n", plain.Line(p.Place.String()), plain.Line(p.Message))
	}
	return in, nil
}

// Complain tells on standard error what is not in the output at all. It fails if a
// document could not be read: then zones may lack what stands there.
func Complain(env Env, input *manifest.Input) error {
	broken := false
	for _, p := range input.Problems {
		switch p.Reason {
		case manifest.Unreadable, manifest.NoObject, manifest.UnknownKind:
			fmt.Fprintf(env.Stderr, "%s: error: %s\n", plain.Line(p.Place.String()), plain.Line(p.Message))
			broken = broken || p.Reason == manifest.Unreadable
		}
	}
	if broken {
		return errors.New("a document could not be read, so the output is not complete")
	}
	return nil
}
