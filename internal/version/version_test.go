package version

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestWhatAProgramIsBuiltFrom(t *testing.T) {
	noted := &debug.BuildInfo{Main: debug.Module{Version: "v0.3.1-0.20261126070154-c0c3dfb00000+dirty"},
		Settings: []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "c0c3dfb"},
			{Key: "vcs.time", Value: "2026-11-26T07:01:54Z"}}}
	for _, c := range []struct {
		name    string
		stamped Info
		built   *debug.BuildInfo
		want    string
	}{
		{"a release says what its build was told, and nothing that Go noted",
			Info{"v1.2.3", "1234abcd", "2026-11-01T00:00:00Z", "go1.26.8", "linux/amd64"}, noted,
			"v1.2.3 (commit 1234abcd, 2026-11-01T00:00:00Z, go1.26.8, linux/amd64)"},
		{"an image of no commit has its tag", Info{"dev", "", "", "go1.26.8", "linux/arm64"}, noted,
			"dev (go1.26.8, linux/arm64)"},
		{"a build from a clone has what Go noted", Info{"", "", "", "go1.26.8", "linux/amd64"}, noted,
			"v0.3.1-0.20261126070154-c0c3dfb00000+dirty (commit c0c3dfb, 2026-11-26T07:01:54Z, go1.26.8, linux/amd64)"},
		{"a build without any notes", Info{"", "", "", "go1.26.8", "linux/amd64"}, nil, "(devel) (go1.26.8, linux/amd64)"},
		{"nothing but a version", Info{Version: "v1.0.0"}, nil, "v1.0.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := of(c.stamped, c.built).String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestTheFlagVersion(t *testing.T) {
	info := Info{Version: "v1.2.3", Commit: "1234abcd", GoVersion: "go1.26.8", Platform: "linux/amd64"}
	for _, c := range []struct{ name, value, want string }{
		{"alone", "true", "operator v1.2.3 (commit 1234abcd, go1.26.8, linux/amd64)\n"},
		{"text", "text", "operator v1.2.3 (commit 1234abcd, go1.26.8, linux/amd64)\n"},
		{"json, where a field without a value is empty", "json", `{
  "version": "v1.2.3",
  "commit": "1234abcd",
  "date": "",
  "goVersion": "go1.26.8",
  "platform": "linux/amd64"
}
`},
		{"not asked", "false", ""},
		{"a form that there is not", "xml", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var q Question
			var out strings.Builder
			err := q.Set(c.value)
			if q.Asked() {
				err = q.Answer(&out, "operator", info)
			}
			if (err != nil) != (c.value == "xml") || out.String() != c.want {
				t.Errorf("got %q and the error %v, want %q", out.String(), err, c.want)
			}
		})
	}
}
