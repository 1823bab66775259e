package command

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// Output is the form of what is printed.
type Output string

// The forms.
const (
	OutputText Output = "text"
	OutputJSON Output = "json"
	outputYAML Output = "yaml"
)

// String implements pflag.Value.
func (o *Output) String() string { return string(*o) }

// Type implements pflag.Value.
func (o *Output) Type() string { return "text|json|yaml" }

// Set implements pflag.Value.
func (o *Output) Set(s string) error {
	if !slices.Contains([]Output{OutputText, OutputJSON, outputYAML}, Output(s)) {
		return errors.New("it must be text, json or yaml")
	}
	*o = Output(s)
	return nil
}

// Register adds the flag to a command.
func (o *Output) Register(cmd *cobra.Command) {
	*o = OutputText
	cmd.Flags().VarP(o, "output", "o", "the format of the output: text, json or yaml")
}

// Print prints a value, or what text writes of it.
func (o Output) Print(env Env, value any, text func(io.Writer)) error {
	return Buffered(env, func(out io.Writer) error {
		if o != OutputText {
			return o.WriteValue(out, value)
		}
		text(out)
		return nil
	})
}

// Buffered prints what is written. Of the errors of out, which it keeps, write need return none.
func Buffered(env Env, write func(out io.Writer) error) error {
	out := bufio.NewWriter(env.Stdout)
	if err := errors.Join(write(out), out.Flush()); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// WriteValue prints a value as JSON or YAML.
func (o Output) WriteValue(out io.Writer, value any) error {
	if o != outputYAML {
		return WriteJSON(out, value)
	}
	text, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// WriteJSON prints a value for people and programs.
func WriteJSON(out io.Writer, value any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// Count returns a number with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
