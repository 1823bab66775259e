package testoperator

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Helm runs the pinned Helm in the folder of the repository and returns what it prints. Files of its own are gone
// afterwards, so that it neither finds nor changes those of the user.
func Helm(ctx context.Context, args ...string) (string, error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return "", err
	}
	home, err := os.MkdirTemp("", "zonefold-helm-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(home)
	cmd := exec.CommandContext(ctx, "go", append([]string{"tool", "-modfile=charts/go.mod", "helm"}, args...)...)
	cmd.Dir = root
	cmd.Env = append(cmd.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("helm %s: %w\n%s", strings.Join(args, " "), err, &said)
	}
	return string(out), nil
}
