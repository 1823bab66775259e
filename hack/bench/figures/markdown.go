package figures

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// columns is how wide a report is.
const columns = 120

// A Grid is a table: its head, and its rows, each with as many cells.
type Grid struct {
	Head []string
	Rows [][]string
}

// Grids are the medians; if there were several rounds, the least and the most of these for what is drawn; and the CPU
// seconds of each program.
func (c *Comparison) Grids() []Grid {
	all := []Grid{c.grid("Median", c.Measures, Measure.Cell)}
	if drawn := c.Drawn(); len(drawn) > 0 && c.rounds() > 1 {
		all = append(all, c.grid("Range of the rounds", drawn, Measure.Range))
	}
	return append(all, c.grid("CPU seconds in a round", c.CPU, Measure.Cell))
}

func (c *Comparison) grid(corner string, measures []Measure, cell func(Measure, int) string) Grid {
	g := Grid{Head: []string{corner}}
	for _, who := range c.Contenders {
		g.Head = append(g.Head, who.Name)
	}
	for _, m := range measures {
		row := []string{m.What}
		for i := range c.Contenders {
			row = append(row, cell(m, i))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// Markdown prints a table whose columns stand below each other.
func (g Grid) Markdown(w io.Writer) {
	widths := make([]int, len(g.Head))
	for _, row := range append([][]string{g.Head}, g.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	line := func(row []string, fill string) {
		for i, cell := range row {
			fmt.Fprintf(w, "|%s%s%s%[1]s", fill, cell, strings.Repeat(fill, widths[i]-utf8.RuneCountInString(cell)))
		}
		fmt.Fprintln(w, "|")
	}
	line(g.Head, " ")
	line(make([]string, len(g.Head)), "-")
	for _, row := range g.Rows {
		line(row, " ")
	}
	fmt.Fprintln(w)
}

// Markdown prints all of it; picture is where its charts are, "" for nowhere, and depth how many signs a heading has.
func (c *Comparison) Markdown(w io.Writer, depth int, picture string) {
	fmt.Fprintf(w, "%s %s\n\n", strings.Repeat("#", depth), c.Title)
	for _, sentence := range c.About {
		fmt.Fprintf(w, "- %s\n", wrapped(sentence, columns-2, "\n  "))
	}
	fmt.Fprintln(w)
	if picture != "" {
		fmt.Fprintf(w, "![%s](%s)\n\n", c.Title, picture)
	}
	for _, g := range c.Grids() {
		g.Markdown(w)
	}
}

// rounds is how many there were.
func (c *Comparison) rounds() int {
	most := 0
	for _, m := range c.Measures {
		for _, rounds := range m.Rounds {
			most = max(most, len(rounds))
		}
	}
	return most
}

// wrapped breaks text between words so that no line is wider.
func wrapped(text string, width int, newline string) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString(newline)
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
