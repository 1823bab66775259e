package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheReadmeShowsWhatServeDoes takes the first steps of README.md, and compares what it shows with what comes of
// them.
func TestTheReadmeShowsWhatServeDoes(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n$ bin/zonefold serve -f examples/quickstart --listen 127.0.0.1:5353 &\n")
	text, _, _ = strings.Cut(text, "\n```\n")
	text = regexp.MustCompile(`serial \d{8}`).ReplaceAllString(text, "serial 20260801")
	dig := regexp.MustCompile(`(?m)^\$ dig @127\.0\.0\.1 -p 5353 (.*)\n`)
	at := dig.FindStringSubmatchIndex(text)
	if at == nil {
		t.Fatalf("README.md does not begin with serve and dig:\n%s", text)
	}
	said, answer, arguments := text[:at[0]], text[at[1]:], text[at[2]:at[3]]

	examples, err := filepath.Abs("../../examples/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t, "cp -r "+examples+" quickstart", "quickstart")
	_, said, _ = strings.Cut(said, "(UDP and TCP)\n")
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(said), "\nwww.", " www."), "\n") {
		s.wait(s.out, "("+regexp.QuoteMeta(line)+")")
	}
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "dig",
		append([]string{"@" + host, "-p", port}, strings.Fields(arguments)...)...).Output()
	if err != nil || strings.TrimSpace(string(out)) != strings.TrimSpace(answer) {
		t.Errorf("dig prints %v\n%s\nand README.md shows\n%s", err, out, answer)
	}
}
