package docs_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEachReasonHasAWayOut holds docs/troubleshooting.md against the reasons that conditions can have: below the
// headings of a part of the operator stand its reasons, all of them, and no others.
func TestEachReasonHasAWayOut(t *testing.T) {
	p := page{"docs/troubleshooting.md", read(t, "docs/troubleshooting.md")}
	done := firsts(t, p.section(t, "## Nothing to do"))
	var known []string
	for _, part := range []struct {
		headings []string
		reasons  []string
	}{
		{[]string{"## Refused: `Accepted` is False", "## Not served: `Served` is False",
			"## Deletions wait: `DeletionsHeld` is True", "## Backends", "## Served, and worth a look"},
			slices.Concat(reasonsOf(t, "internal/controller/conditions.go", "Reason"),
				reasonsOf(t, "internal/zone/verdict.go", ""))},
		{[]string{"## Fleets of BIND"}, reasonsOf(t, "api/bindy/v1beta1/names.go", "Reason")},
		{[]string{"## DNSClasses and their DNSRecords"},
			reasonsOf(t, "internal/controller/homelab/servers/failure.go", "Reason")},
	} {
		known = append(known, part.reasons...)
		var listed []string
		for _, heading := range part.headings {
			section := p.section(t, heading)
			listed = append(listed, firsts(t, section)...)
			for _, cells := range rows(section) {
				if len(cells) != 4 || cells[1] == "" || cells[3] == "" {
					t.Errorf("%s: the row %s does not say what has happened and what to change", p.path, cells[0])
				}
			}
		}
		for _, reason := range part.reasons {
			if slices.Contains(done, reason) {
				listed = append(listed, reason)
			}
		}
		there := slices.Compact(slices.Sorted(slices.Values(part.reasons)))
		same(t, p.path+", below "+strings.Join(part.headings, ", "), listed, there)
	}
	for _, reason := range done {
		if !slices.Contains(known, reason) {
			t.Errorf("%s lists %s, which does not exist", p.path, reason)
		}
	}
}

// reasonsOf returns the values of those constants of a file whose names begin with a prefix.
func reasonsOf(t *testing.T, file, prefix string) []string {
	t.Helper()
	var found []string
	for name, value := range constants(t, file) {
		if strings.HasPrefix(name, prefix) {
			found = append(found, value)
		}
	}
	return found
}

// TestTheGlossaryHasTheWordsOfTheCode holds docs/glossary.md against the words of ARCHITECTURE.md. It is sorted, so
// that people find a word without searching.
func TestTheGlossaryHasTheWordsOfTheCode(t *testing.T) {
	glossary := rows(read(t, "docs/glossary.md"))
	listed := map[string]bool{}
	last := ""
	for _, cells := range glossary {
		word := strings.ToLower(cells[0])
		if word <= last {
			t.Errorf("docs/glossary.md has %q after %q", word, last)
		}
		last = word
		for one := range strings.SplitSeq(word, ", ") {
			if listed[one] {
				t.Errorf("docs/glossary.md has %q twice", one)
			}
			listed[one] = true
		}
	}
	architecture := page{"ARCHITECTURE.md", read(t, "ARCHITECTURE.md")}
	words := rows(architecture.section(t, "## The words"))
	if len(words) < 15 {
		t.Fatalf("ARCHITECTURE.md has %d words", len(words))
	}
	for _, cells := range words {
		for word := range strings.SplitSeq(cells[0], ", ") {
			if !listed[strings.ToLower(word)] {
				t.Errorf("docs/glossary.md lacks %q, a word of ARCHITECTURE.md", word)
			}
		}
	}
}

// TestCommandsOfThePagesExist holds each command line of zonefold in blocks and code spans against docs/cli.md, which
// is made from the help texts: the command exists, and has the flags.
func TestCommandsOfThePagesExist(t *testing.T) {
	flags := commands(t)
	line := regexp.MustCompile(`(?m)(?:^|\$ |[;|&]\s*|kubectl |bin/)zonefold ([a-z].*)$`)
	count := 0
	for _, p := range pages(t) {
		if p.path == "docs/cli.md" {
			continue
		}
		var texts []string
		for _, b := range p.commands() {
			texts = append(texts, strings.ReplaceAll(b.text, "\\\n", " "))
		}
		for _, found := range regexp.MustCompile("(?:^|[\\s(|])`([^`\n]+)`").FindAllStringSubmatch(p.prose(), -1) {
			texts = append(texts, found[1])
		}
		for _, text := range texts {
			for _, found := range line.FindAllStringSubmatch(text, -1) {
				count++
				if fault := flags.fault(found[1]); fault != "" {
					t.Errorf("%s: zonefold %s: %s", p.path, found[1], fault)
				}
			}
		}
	}
	if count < 60 {
		t.Errorf("found %d command lines, which cannot be all", count)
	}
}

// manual is what each command takes.
type manual map[string]takes

// takes are the flags of a command, and whether it has arguments.
type takes struct {
	flags []string
	args  bool
}

func commands(t *testing.T) manual {
	t.Helper()
	all := manual{}
	cli := page{"docs/cli.md", read(t, "docs/cli.md")}
	for _, heading := range regexp.MustCompile(`(?m)^## zonefold (.+)$`).FindAllStringSubmatch(cli.text, -1) {
		section := cli.section(t, heading[0])
		var found takes
		for _, m := range regexp.MustCompile(`(?m)^ +(?:(-\w), )?(--[a-z-]+)`).FindAllStringSubmatch(section, -1) {
			found.flags = append(found.flags, m[1:]...)
		}
		usage := regexp.MustCompile(`Usage:\n  zonefold (.*)`).FindStringSubmatch(section)[1]
		found.args = regexp.MustCompile(`[A-Z]`).MatchString(flagWithValue.ReplaceAllString(usage, ""))
		all[heading[1]] = found
	}
	return all
}

// flagWithValue is a flag in a line of usage, with its value.
var flagWithValue = regexp.MustCompile(`-[\w-]+ [A-Z][A-Z.]*`)

// fault says what is wrong with a command line, or returns "".
func (m manual) fault(line string) string {
	for _, end := range []string{" #", " | ", " > ", " || ", " &", " ; "} {
		line, _, _ = strings.Cut(line, end)
	}
	words := strings.Fields(line)
	for n := min(2, len(words)); n > 0; n-- {
		known, ok := m[strings.Join(words[:n], " ")]
		if !ok {
			continue
		}
		before := ""
		for _, word := range words[n:] {
			flag, _, _ := strings.Cut(word, "=")
			isFlag := strings.HasPrefix(flag, "-") && len(flag) > 1
			if isFlag && !slices.Contains(known.flags, flag) {
				return "it has no flag " + flag
			}
			if !isFlag && !known.args && !strings.HasPrefix(before, "-") {
				return "it takes no argument " + word
			}
			before = word
		}
		return ""
	}
	if slices.Contains([]string{"completion", "help"}, words[0]) {
		return ""
	}
	return "there is no such command among " + strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}
