package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// kustomizers are the programs that build kustomizations. Their packages would be half of this one.
var kustomizers = [][]string{{"kubectl", "kustomize"}, {"kustomize", "build"}}

// kustomize builds a kustomization.
func kustomize(folder string) (manifest.Text, error) {
	for _, by := range kustomizers {
		program, err := exec.LookPath(by[0])
		if err != nil {
			continue
		}
		text, err := exec.CommandContext(context.Background(), program, by[1], folder).Output()
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%s says: %s", strings.Join(by, " "), plain.Line(string(bytes.TrimSpace(failed.Stderr))))
		}
		if err != nil {
			return manifest.Text{}, fmt.Errorf("building the kustomization %s: %w", folder, err)
		}
		return manifest.Text{Name: folder, Text: text}, nil
	}
	return manifest.Text{}, errors.New("-k needs kubectl or kustomize in $PATH, which build kustomizations; install one " +
		"of them, or name files with -f")
}
