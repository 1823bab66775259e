package testoperator

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// ExternalDNS returns the path of external-dns' own program, of the version that test/acceptance/externaldns/program
// has. The go command builds it, which takes long the first time, and keeps it.
func ExternalDNS(ctx context.Context) (string, error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "-n", "external-dns")
	cmd.Dir = filepath.Join(root, "test", "acceptance", "externaldns", "program")
	cmd.Env = append(cmd.Environ(), "GOTOOLCHAIN=auto") // it needs a later one than zonefold
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("building external-dns: %w\n%s", err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
