package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/internal/cli/manifest"
)

// inputFlags say which objects to work on.
type inputFlags struct {
	files     []string
	namespace string
}

func (f *inputFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.files, "filename", "f", nil,
		"a file, a folder with everything below it (*.yaml, *.yml, *.json), or - for the standard input; repeatable")
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "default", "the namespace of objects that do not say theirs")
}

// errNothing says that there is no -f.
var errNothing = errors.New("there is nothing to read: say with -f which files, folders or - (standard input)")

// read reads the objects, and tells on standard error what it left out.
func (f *inputFlags) read(env Env, p *progress) (*manifest.Input, error) {
	if len(f.files) == 0 {
		return nil, errNothing
	}
	p.begin("reading files", 0)
	in, err := manifest.Read(manifest.Options{Paths: f.files, Stdin: env.Stdin, Namespace: f.namespace, Begin: p.begin})
	if err != nil {
		return nil, err
	}
	for _, p := range in.Ignored {
		fmt.Fprintf(env.Stderr, "%s: left out: %s\n", oneLine(p.Place.String()), oneLine(p.Message))
	}
	return in, nil
}

// output is the form of what is printed.
type output string

const (
	outputText output = "text"
	outputJSON output = "json"
	outputYAML output = "yaml"
)

func (o *output) String() string { return string(*o) }
func (o *output) Type() string   { return "text|json|yaml" }

func (o *output) Set(s string) error {
	if !slices.Contains([]output{outputText, outputJSON, outputYAML}, output(s)) {
		return errors.New("it is text, json or yaml")
	}
	*o = output(s)
	return nil
}

func (o *output) register(cmd *cobra.Command) {
	*o = outputText
	cmd.Flags().VarP(o, "output", "o", "the form of the output: text, json or yaml")
}

// print prints a value, or what text writes of it.
func (o output) print(env Env, value any, text func(io.Writer)) error {
	return buffered(env, func(out io.Writer) error {
		if o != outputText {
			return o.writeValue(out, value)
		}
		text(out)
		return nil
	})
}

// buffered prints what is written. Of the errors of out, which it keeps, write need return none.
func buffered(env Env, write func(out io.Writer) error) error {
	out := bufio.NewWriter(env.Stdout)
	if err := errors.Join(write(out), out.Flush()); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// writeValue prints a value as JSON or YAML.
func (o output) writeValue(out io.Writer, value any) error {
	if o != outputYAML {
		return writeJSON(out, value)
	}
	text, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}
