package figures

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// A Comparison is what contenders did at one task, one after the other in the same run on the same machine.
type Comparison struct {
	// Name begins its keys in BENCH_OUT, and the names of its charts.
	Name string `json:"name"`
	// Title says what was done, and how often.
	Title string `json:"title"`
	// About has a sentence for each condition of the run.
	About []string `json:"about"`
	// Contenders are in the order of the columns.
	Contenders []Contender `json:"contenders"`
	// Measures are what is compared.
	Measures []Measure `json:"measures"`
	// CPU says what competed for the processors: seconds in a round, of each program.
	CPU []Measure `json:"cpu"`
}

// A Contender takes part in a Comparison.
type Contender struct {
	// Key is its name in BENCH_OUT: small letters and underscores.
	Key string `json:"key"`
	// Name is for people.
	Name string `json:"name"`
	// Ours says that it is zonefold.
	Ours bool `json:"ours,omitempty"`
}

// A Measure is one figure of each contender in each round.
type Measure struct {
	// Key is its name in BENCH_OUT, "" if it is not there by itself.
	Key string `json:"key,omitempty"`
	// What is measured.
	What string `json:"what"`
	// Unit is that of the figures.
	Unit string `json:"unit,omitempty"`
	// Chart says whether it is drawn.
	Chart bool `json:"chart,omitempty"`
	// Rounds are the figures of each contender, round by round; without any, the contender has none.
	Rounds [][]float64 `json:"rounds"`
	// Goals are those of each contender; nil: there is none.
	Goals []*Goal `json:"goals,omitempty"`
}

// A Goal is a bound for a figure.
type Goal struct {
	// Least says that the bound is a lower one.
	Least bool `json:"least,omitempty"`
	// Bound is met by itself.
	Bound float64 `json:"bound"`
}

// Median returns the middle figure of a contender.
func (m Measure) Median(contender int) (float64, bool) {
	if contender >= len(m.Rounds) || len(m.Rounds[contender]) == 0 {
		return 0, false
	}
	return Median(m.Rounds[contender]), true
}

// Cell is the median of a contender, with its goal.
func (m Measure) Cell(contender int) string {
	median, ok := m.Median(contender)
	if !ok {
		return ""
	}
	cell := Short(median, m.Unit)
	if contender < len(m.Goals) && m.Goals[contender] != nil {
		cell += " (" + m.Goals[contender].judge(median) + ")"
	}
	return cell
}

// Range is from the least of the rounds of a contender to the most.
func (m Measure) Range(contender int) string {
	if _, ok := m.Median(contender); !ok {
		return ""
	}
	least, most := m.Bounds(contender)
	return Short(least, "") + "–" + Short(most, m.Unit)
}

// Drawn are the measures that have a chart.
func (c *Comparison) Drawn() []Measure {
	return slices.DeleteFunc(slices.Clone(c.Measures), func(m Measure) bool { return !m.Chart })
}

// RoundsOf says how the figures come from so many rounds.
func RoundsOf(rounds int) string {
	if rounds == 1 {
		return "one round"
	}
	return fmt.Sprintf("medians of %d rounds", rounds)
}

// Bounds are the least and the most of the rounds of a contender, which has some.
func (m Measure) Bounds(contender int) (least, most float64) {
	return slices.Min(m.Rounds[contender]), slices.Max(m.Rounds[contender])
}

// judge says on which side of its goal a figure is: ≤ or ≥ if it meets that.
func (g Goal) judge(figure float64) string {
	signs := map[bool]string{true: "≤", false: ">"}
	met := figure <= g.Bound
	if g.Least {
		signs, met = map[bool]string{true: "≥", false: "<"}, figure >= g.Bound
	}
	return signs[met] + " " + Short(g.Bound, "")
}

// Short prints a figure with three digits, or all of those before the decimal point, and its unit.
func Short(figure float64, unit string) string {
	places := 2
	switch {
	case figure >= 99.95:
		places = 0
	case figure >= 9.995:
		places = 1
	}
	text := fmt.Sprintf("%.*f", places, figure)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	for i := len(text) - 3; i > 0 && places == 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if unit == "" {
		return text
	}
	return text + " " + unit
}

// kept begins the keys of whole comparisons in BENCH_OUT.
const kept = "comparison_"

// Figures are for BENCH_OUT: the median of each Measure that has a key, and the Comparison itself.
func (c *Comparison) Figures() map[string]any {
	out := map[string]any{kept + c.Name: c}
	for _, m := range c.Measures {
		for i, who := range c.Contenders {
			if median, ok := m.Median(i); ok && m.Key != "" {
				out[strings.Join([]string{c.Name, who.Key, m.Key}, "_")] = median
			}
		}
	}
	return out
}

// Comparisons reads those that a file of BENCH_OUT has, by their names.
func Comparisons(file string) ([]*Comparison, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	var out []*Comparison
	for key, value := range all {
		if !strings.HasPrefix(key, kept) {
			continue
		}
		c := &Comparison{}
		if err := json.Unmarshal(value, c); err != nil {
			return nil, fmt.Errorf("reading %s of %s: %w", key, file, err)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *Comparison) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
