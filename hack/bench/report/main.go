// Command report makes pages of the comparisons in a file of BENCH_OUT:
//
//	go run ./hack/bench/report FILE.json                      FILE.md, FILE.html, and a chart of each comparison as SVG
//	go run ./hack/bench/report -into PAGE.md FILE.json        the same as a section of a page, with its charts beside it
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

func main() {
	page := flag.String("into", "", "the `page` that gets the report between its two marks")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: report [-into PAGE.md] FILE.json") }
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *page); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(file, page string) error {
	all, err := figures.Comparisons(file)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s has no comparisons; make bench PEERS=1 makes some", file)
	}
	base := strings.TrimSuffix(file, filepath.Ext(file))
	if page != "" {
		base = strings.TrimSuffix(page, filepath.Ext(page))
	}
	for _, c := range all {
		if err := write(chartOf(base, c), func(to *bytes.Buffer) error { return draw(to, c) }); err != nil {
			return err
		}
	}
	if page != "" {
		return insert(page, base, all)
	}
	markdown := func(to *bytes.Buffer) error {
		fmt.Fprint(to, "# Side by side\n\n")
		return sections(to, 2, base, all)
	}
	if err := write(base+".md", markdown); err != nil {
		return err
	}
	return write(base+".html", func(to *bytes.Buffer) error { return html(to, all) })
}

// chartOf names the chart of a Comparison in a report that has a name.
func chartOf(base string, c *figures.Comparison) string { return base + "-" + c.Name + ".svg" }

// sections are all comparisons in Markdown, with headings of a depth.
func sections(to *bytes.Buffer, depth int, base string, all []*figures.Comparison) error {
	for _, c := range all {
		c.Markdown(to, depth, filepath.Base(chartOf(base, c)))
	}
	return nil
}

// The marks are lines around the part of a page that is made here.
const (
	begin = "<!-- made by: make generate, of figures that make bench PEERS=1 has left -->\n"
	end   = "<!-- the end of what is made -->\n"
)

// insert puts the comparisons between the marks of a page.
func insert(page, base string, all []*figures.Comparison) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, also := strings.Cut(rest, end)
	if !ok || !also {
		return fmt.Errorf("%s has not both of these lines:\n%s%s", page, begin, end)
	}
	return write(page, func(to *bytes.Buffer) error {
		fmt.Fprint(to, before, begin, "\n")
		err := sections(to, 3, base, all)
		fmt.Fprint(to, end, after)
		return err
	})
}

func write(file string, fill func(*bytes.Buffer) error) error {
	var b bytes.Buffer
	if err := fill(&b); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}
