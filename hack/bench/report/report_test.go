package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

func compared() *figures.Comparison {
	return &figures.Comparison{Name: "crd", Title: "<3 names & more", About: []string{"Nothing else ran."},
		Contenders: []figures.Contender{{Key: "zonefold", Name: "zonefold", Ours: true}, {Key: "other", Name: "other <b>"}},
		Measures: []figures.Measure{
			{What: "start to all served", Unit: "s", Chart: true, Rounds: [][]float64{{1, 3, 2}, {10, 8, 9}}},
			{What: "memory", Unit: "MiB", Rounds: [][]float64{{100, 100, 100}}},
		}}
}

// wellFormed fails unless text is XML.
func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

func TestBarsAreAsLongAsWhatTheyStandFor(t *testing.T) {
	c := compared()
	p := panelOf(c, c.Measures[0], 0)
	const all = width - nameWidth - lastWidth
	if len(p.Bars) != 2 || p.Bars[0].Length != all*2/10 || p.Bars[1].Length != all*9/10 {
		t.Errorf("got %+v, want lengths of 2 and 9 tenths of %d", p.Bars, all)
	}
	if b := p.Bars[1]; b.From != nameWidth+all*8/10 || b.To != nameWidth+all {
		t.Errorf("the line of the rounds is from %d to %d", b.From, b.To)
	}
	if p := panelOf(c, c.Measures[1], 0); len(p.Bars) != 1 {
		t.Errorf("who has no figure has a bar: %+v", p.Bars)
	}
	var b bytes.Buffer
	if err := draw(&b, c); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b.Bytes())
	if strings.Contains(b.String(), "memory") {
		t.Error("what is not to be drawn was drawn")
	}
}

func TestTheReportIsThreeKindsOfFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	if err := figures.Add(file, compared().Figures()); err != nil {
		t.Fatal(err)
	}
	if err := run(file, ""); err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix(file, ".json")
	for _, name := range []string{base + "-crd.svg", base + ".md", base + ".html"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"<script", "<b>"} {
			if strings.HasSuffix(name, ".html") && bytes.Contains(text, []byte(bad)) {
				t.Errorf("%s has %s", name, bad)
			}
		}
		if !bytes.Contains(text, []byte("9 s")) {
			t.Errorf("%s does not say 9 s:\n%s", name, text)
		}
	}
}

func TestOnlyWhatIsBetweenTheMarksIsMade(t *testing.T) {
	dir := t.TempDir()
	page, file := filepath.Join(dir, "page.md"), filepath.Join(dir, "out.json")
	for _, err := range []error{figures.Add(file, compared().Figures()),
		os.WriteFile(page, []byte("before\n"+begin+"as it was\n"+end+"after\n"), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var texts []string
	for range 2 {
		if err := run(file, page); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	got := texts[0]
	if !strings.HasPrefix(got, "before\n"+begin) || !strings.HasSuffix(got, end+"after\n") ||
		strings.Contains(got, "as it was") || !strings.Contains(got, "(page-crd.svg)") || got != texts[1] {
		t.Errorf("got\n%s\nand then\n%s", got, texts[1])
	}
	if err := os.WriteFile(page, []byte("no marks\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(file, page); err == nil {
		t.Error("a page without marks was written")
	}
}

// TestThePageOfTheDocumentationIsMadeOfItsFigures holds docs/performance.md against docs/performance.json.
func TestThePageOfTheDocumentationIsMadeOfItsFigures(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "docs")
	all, err := figures.Comparisons(filepath.Join(docs, "performance.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := sections(&want, 3, filepath.Join(docs, "performance"), all); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(docs, "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte(begin+"\n"+want.String()+end)) {
		t.Errorf("docs/performance.md is not what docs/performance.json gives; run make generate")
	}
	for line := range strings.Lines(want.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, c := range all {
		var drawn bytes.Buffer
		if err := draw(&drawn, c); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, drawn.Bytes())
		kept, err := os.ReadFile(chartOf(filepath.Join(docs, "performance"), c))
		if err != nil || !bytes.Equal(kept, drawn.Bytes()) {
			t.Errorf("the chart of %s is another one (%v); run make generate", c.Name, err)
		}
	}
}
