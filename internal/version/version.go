// Package version says what a program was built from: as a release, what its build told the linker; else what Go has
// noted in the program of itself.
package version

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

// What the linker is told by builds that are handed out; hack/compile has the flags.
var release, commit, date string

// Info is what a program says of its build.
type Info struct {
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	Date      string `json:"date"` // of the commit, RFC 3339
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

// Read returns what this program was built from.
func Read() Info {
	built, _ := debug.ReadBuildInfo()
	return of(Info{release, commit, date, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}, built)
}

// Release returns the version that images of the same build have as their tag: dev, unless the build says.
func Release() string { return cmp.Or(release, "dev") }

// of completes what the linker was told by what Go has noted. A stamp counts alone: what is noted may be of another
// state of the repository.
func of(stamped Info, built *debug.BuildInfo) Info {
	if stamped.Version != "" || built == nil {
		stamped.Version = cmp.Or(stamped.Version, "(devel)")
		return stamped
	}
	stamped.Version = cmp.Or(built.Main.Version, "(devel)")
	for _, setting := range built.Settings {
		switch setting.Key {
		case "vcs.revision":
			stamped.Commit = setting.Value
		case "vcs.time":
			stamped.Date = setting.Value
		}
	}
	return stamped
}

// String returns it as one line for people, without the parts that nobody knows.
func (i Info) String() string {
	var details []string
	if i.Commit != "" {
		details = append(details, "commit "+i.Commit)
	}
	for _, detail := range []string{i.Date, i.GoVersion, i.Platform} {
		if detail != "" {
			details = append(details, detail)
		}
	}
	if len(details) == 0 {
		return i.Version
	}
	return fmt.Sprintf("%s (%s)", i.Version, strings.Join(details, ", "))
}

// A Question is the flag --version of a program: to be answered in text, or by --version=json as JSON.
type Question string

// String returns what was asked for: text, json or nothing.
func (q *Question) String() string { return string(*q) }

// IsBoolFlag lets the flag stand without a value, as package flag asks.
func (q *Question) IsBoolFlag() bool { return true }

// Set takes the value of the flag.
func (q *Question) Set(value string) error {
	switch value {
	case "true", "text":
		*q = "text"
	case "false":
		*q = ""
	case "json":
		*q = "json"
	default:
		return fmt.Errorf("it must be text or json, not %q", value)
	}
	return nil
}

// Asked reports whether the flag was there.
func (q *Question) Asked() bool { return *q != "" }

// Answer prints what was asked for.
func (q *Question) Answer(to io.Writer, program string, info Info) error {
	if *q != "json" {
		_, err := fmt.Fprintln(to, program, info)
		return err
	}
	out := json.NewEncoder(to)
	out.SetIndent("", "  ")
	return out.Encode(info)
}
