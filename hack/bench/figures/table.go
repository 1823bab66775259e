package figures

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A Row of the table; without a goal it explains others.
type Row struct{ What, Figure, Goal string }

// Note is a row without a goal.
func Note(what, figure string) Row { return Row{What: what, Figure: figure} }

// AtMost shows a figure, its goal, and whether it is met.
func AtMost(what, format string, figure, most float64) Row {
	return goal(what, format, "≤ ", [2]float64{figure, most}, figure <= most)
}

// AtLeast is AtMost for a figure that should be high.
func AtLeast(what, format string, figure, least float64) Row {
	return goal(what, format, "≥ ", [2]float64{figure, least}, figure >= least)
}

func goal(what, format, sign string, figures [2]float64, met bool) Row {
	verdict := "MISSED"
	if met {
		verdict = "met"
	}
	return Row{what, fmt.Sprintf(format, figures[0]), sign + fmt.Sprintf(format, figures[1]) + "  " + verdict}
}

// Table prints rows under a title.
func Table(w io.Writer, title string, rows []Row) error {
	fmt.Fprintf(w, "\n%s\n\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "\tmeasured\tgoal")
	for _, row := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\n", row.What, row.Figure, row.Goal)
	}
	return t.Flush()
}

// Compare prints columns under a title, side by side: names has their names, and each row what it is about first.
func Compare(w io.Writer, title string, names []string, rows [][]string) error {
	fmt.Fprintf(w, "\n%s\n\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "\t"+strings.Join(names, "\t"))
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}
