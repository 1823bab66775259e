package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/zonefold/zonefold/hack/compile"
	"github.com/zonefold/zonefold/internal/cli"
)

// A platform is an operating system and an architecture, as Go calls them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// A program that is handed out.
type program struct {
	name    string // of the file
	archive string // what its archives begin with
	people  bool   // for people's machines, of any kind; else for servers, which are Linux
}

func programs() []program {
	return []program{
		{name: "zonefold", archive: "zonefold", people: true},
		{name: "operator", archive: "zonefold-operator"},
		{name: "bindcar", archive: "zonefold-bindcar"},
		{name: "dnshook", archive: "zonefold-dnshook"},
	}
}

func platforms() []platform {
	return []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"},
		{"windows", "amd64"}, {"windows", "arm64"}}
}

// on reports whether the program is for a platform.
func (p program) on(at platform) bool { return p.people || at.os == "linux" }

// stem is what the files of a program for a platform begin with.
func (r release) stem(p program, at platform) string {
	return fmt.Sprintf("%s_%s_%s_%s", p.archive, r.version.tag(), at.os, at.arch)
}

// archiveName is what the archive is called.
func (r release) archiveName(p program, at platform) string {
	if at.os == "windows" {
		return r.stem(p, at) + ".zip"
	}
	return r.stem(p, at) + ".tar.gz"
}

// fileName is what a system calls a program.
func (p program) fileName(at platform) string {
	if at.os == "windows" {
		return p.name + ".exe"
	}
	return p.name
}

// archives compiles every program for every platform that it is for, and packs it with its license and, for people,
// with completions. Beside each is its bill of materials.
func (r release) archives(ctx context.Context, at *folder) error {
	license, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return fmt.Errorf("reading the license: %w", err)
	}
	completions, err := completions(ctx)
	if err != nil {
		return err
	}
	for _, p := range r.programs {
		beside := []file{{name: "LICENSE", text: license}}
		if p.people {
			beside = append(beside, completions...)
		}
		for _, on := range r.platforms {
			if !p.on(on) {
				continue
			}
			if err := r.archive(ctx, at, p, on, beside); err != nil {
				return err
			}
		}
	}
	return nil
}

// archive makes one of them.
func (r release) archive(ctx context.Context, at *folder, p program, on platform, beside []file) error {
	text, err := r.compile(ctx, p, on)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("reading what %s for %s consists of: %w", p.name, on, err)
	}
	bill, err := bill(info, subjectOf(r, p, on))
	if err != nil {
		return fmt.Errorf("writing what %s for %s consists of: %w", p.name, on, err)
	}
	pack := tarGzip
	if on.os == "windows" {
		pack = zipped
	}
	packed, err := pack(append([]file{{p.fileName(on), text, true}}, beside...), r.at())
	if err != nil {
		return err
	}
	return errors.Join(at.write(r.archiveName(p, on), packed), at.write(r.stem(p, on)+".cdx.json", bill))
}

func (r release) compile(ctx context.Context, p program, on platform) ([]byte, error) {
	dir, err := os.MkdirTemp("", "zonefold-release-")
	if err != nil {
		return nil, fmt.Errorf("making a folder to compile into: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, p.name)
	target := compile.Target{Folder: "cmd/" + p.name, OS: on.os, Arch: on.arch, Stamp: r.stamp()}
	if err := target.Build(ctx, r.root, path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// stamp is what programs say of themselves.
func (r release) stamp() compile.Stamp {
	return compile.Stamp{Version: r.version.tag(), Commit: r.source.commit, Date: r.at().Format(time.RFC3339)}
}

// completions are what shells load to complete commands, flags and names, by the name under which each shell looks.
func completions(ctx context.Context) ([]file, error) {
	var files []file
	for _, shell := range []struct{ name, file string }{
		{"bash", "zonefold.bash"}, {"zsh", "_zonefold"}, {"fish", "zonefold.fish"}, {"powershell", "zonefold.ps1"},
	} {
		var out, said bytes.Buffer
		env := cli.Env{Args: []string{"zonefold", "completion", shell.name}, Stdin: &bytes.Buffer{}, Stdout: &out,
			Stderr: &said, Getenv: func(string) string { return "" }}
		if code := cli.Run(ctx, env); code != 0 || out.Len() == 0 {
			return nil, fmt.Errorf("completions of %s: exit code %d: %s", shell.name, code, said.String())
		}
		files = append(files, file{name: "completions/" + shell.file, text: out.Bytes()})
	}
	return files, nil
}
