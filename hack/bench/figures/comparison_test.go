package figures

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func twoServers() *Comparison {
	return &Comparison{Name: "dns", Title: "Name servers", About: []string{strings.Repeat("The machine was quiet. ", 9)},
		Contenders: []Contender{{"embedded", "embedded", true}, {"coredns", "CoreDNS 1.2", false}},
		Measures: []Measure{
			{Key: "qps", What: "questions a second", Chart: true,
				Rounds: [][]float64{{60000, 50000, 58000}, {20000, 21000, 22000}}},
			{What: "ratio", Rounds: [][]float64{nil, {2.5, 1.2, 1.4}}, Goals: []*Goal{nil, {Least: true, Bound: 1.5}}},
		},
		CPU: []Measure{{What: "others", Unit: "s", Rounds: [][]float64{{0.25, 0.5, 1}, {12, 12, 12}}}}}
}

func TestFiguresAreShort(t *testing.T) {
	for _, c := range []struct {
		figure float64
		unit   string
		want   string
	}{
		{0, "s", "0 s"}, {0.004, "", "0"}, {0.5, "", "0.5"}, {1.234, "ms", "1.23 ms"}, {9.999, "", "10"},
		{20, "", "20"}, {54.26, "s", "54.3 s"}, {99.96, "", "100"}, {1234.5, "ms", "1,234 ms"},
		{1234567, "", "1,234,567"},
	} {
		if got := Short(c.figure, c.unit); got != c.want {
			t.Errorf("%v %s: got %q, want %q", c.figure, c.unit, got, c.want)
		}
	}
}

func TestAComparisonSaysMediansRangesAndGoals(t *testing.T) {
	var out strings.Builder
	twoServers().Markdown(&out, 2, "dns.svg")
	want := `## Name servers

- The machine was quiet. The machine was quiet. The machine was quiet. The machine was quiet. The machine was quiet. The
  machine was quiet. The machine was quiet. The machine was quiet. The machine was quiet.

![Name servers](dns.svg)

| Median             | embedded | CoreDNS 1.2 |
|--------------------|----------|-------------|
| questions a second | 58,000   | 21,000      |
| ratio              |          | 1.4 (< 1.5) |

| Range of the rounds | embedded      | CoreDNS 1.2   |
|---------------------|---------------|---------------|
| questions a second  | 50,000–60,000 | 20,000–22,000 |

| CPU seconds in a round | embedded | CoreDNS 1.2 |
|------------------------|----------|-------------|
| others                 | 0.5 s    | 12 s        |

`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestComparisonsAreReadAsTheyWereWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	c := twoServers()
	if err := Add(file, map[string]any{"n": 10000}); err != nil {
		t.Fatal(err)
	}
	if err := Add(file, c.Figures()); err != nil {
		t.Fatal(err)
	}
	if got, err := Comparisons(file); err != nil || !reflect.DeepEqual(got, []*Comparison{c}) {
		t.Errorf("got %+v, %v, want %+v", got, err, c)
	}
	if got := c.Figures()["dns_coredns_qps"]; got != 21000.0 {
		t.Errorf("the median by its key is %v", got)
	}
}
