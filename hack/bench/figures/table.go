package figures

import (
	"fmt"
	"io"
	"text/tabwriter"
	"unicode/utf8"
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

// Table prints rows under a title, in 120 columns: a figure that takes more goes on below.
func Table(w io.Writer, title string, rows []Row) error {
	fmt.Fprintf(w, "\n%s\n\n", title)
	const between, least = 3, 30
	what, goal := 0, 0
	for _, row := range rows {
		what, goal = max(what, utf8.RuneCountInString(row.What)), max(goal, utf8.RuneCountInString(row.Goal))
	}
	room := max(least, columns-what-goal-2*between)
	t := tabwriter.NewWriter(w, 0, 0, between, ' ', 0)
	fmt.Fprintln(t, "\tmeasured\tgoal")
	for _, row := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\n", row.What, wrapped(row.Figure, room, "\t\n\t"), row.Goal)
	}
	return t.Flush()
}
