package figures

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"syscall"
)

// A Program measures and prints; everything that it starts is gone when it returns.
type Program func(ctx context.Context, args []string, out, progress io.Writer) error

// Main runs a program until it ends or is interrupted.
func Main(name string, run Program) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Add adds figures to the JSON object in a file, which another program may have written; "" is no file.
func Add(file string, more map[string]any) error {
	if file == "" {
		return nil
	}
	all := map[string]any{}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("adding figures to %s: %w", file, err)
	}
	maps.Copy(all, more)
	if text, err = json.Marshal(all); err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
