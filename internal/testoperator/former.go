package testoperator

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// former is the commit from which tests upgrade. There is no release yet: it is the last commit before sources, dynamic
// updates and reverse zones. With a release it becomes that one's.
const former = "c1f6c4c45fbad423740ce1e24b67faee6ab21604"

// FormerTree returns the folder of an earlier state of this repository, with the chart and the definitions that people
// have installed. It is taken from the history and kept in the user's cache folder.
func FormerTree(ctx context.Context) (dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's cache folder (set HOME or XDG_CACHE_HOME): %w", err)
	}
	cache = filepath.Join(cache, "zonefold", "former")
	dir = filepath.Join(cache, former)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("making the cache folder: %w", err)
	}
	fresh, err := os.MkdirTemp(cache, ".new-") // a checkout that is cut short leaves nothing that looks whole
	if err != nil {
		return "", fmt.Errorf("making a folder for an earlier state: %w", err)
	}
	defer os.RemoveAll(fresh)
	if err := checkout(ctx, filepath.Join(fresh, "index"), filepath.Join(fresh, "tree")); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(fresh, "tree"), dir); err != nil && !os.IsExist(err) {
		return "", fmt.Errorf("moving an earlier state into the cache: %w", err)
	}
	return dir, nil
}

// checkout writes the files of the earlier commit, with an index of its own: that of the repository stays as it is.
func checkout(ctx context.Context, index, dir string) error {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"read-tree", former}, {"checkout-index", "--all", "--prefix=" + dir + "/"}} {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...)
		cmd.Env = append(cmd.Environ(), "GIT_INDEX_FILE="+index)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("reading commit %s, from which tests upgrade, of the history of %s: %w: %s; "+
				"in a clone without history, run git fetch --unshallow", former, root, err, out)
		}
	}
	return nil
}

// BuildFormer compiles the operator of FormerTree, with the dependencies that it had, and returns its path. It is
// compiled once.
func BuildFormer(ctx context.Context) (path string, err error) {
	tree, err := FormerTree(ctx)
	if err != nil {
		return "", err
	}
	path = tree + "-operator"
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	fresh, err := os.MkdirTemp(filepath.Dir(tree), ".new-")
	if err != nil {
		return "", fmt.Errorf("making a folder to build in: %w", err)
	}
	defer os.RemoveAll(fresh)
	built := filepath.Join(fresh, "operator")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", built, "./cmd/operator")
	cmd.Dir = tree
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the operator of commit %s: %w\n%s", former, err, out)
	}
	if err := os.Rename(built, path); err != nil {
		return "", fmt.Errorf("moving the operator of commit %s into the cache: %w", former, err)
	}
	return path, nil
}
