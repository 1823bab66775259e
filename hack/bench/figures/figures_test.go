package figures

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestStatIsReadWhateverTheNameHolds(t *testing.T) {
	got, err := parseStat([]byte("42 (a) (b c) S 7 42 42 0 -1 4194304 1 0 0 0 150 25 7 3 20 0 1 0 5 6 7\n"))
	if want := (stat{name: "a) (b c", pid: 42, parent: 7, cpu: 1750 * time.Millisecond,
		ended: 100 * time.Millisecond}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, bad := range []string{"", "42 name S 7", "42 (name) S 7 42"} {
		if got, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was read as %+v", bad, got)
		}
	}
}

func TestThisProgramIsAmongThoseThatUseCPU(t *testing.T) {
	times, err := CPUTimes()
	if err != nil || len(times) == 0 {
		t.Errorf("got %v, %v", times, err)
	}
	if own, err := CPUOf(os.Getpid()); err != nil || own < times["figures.test"] {
		t.Errorf("got %s, %v, after %v", own, err, times)
	}
	if _, err := CPUOf(0); err == nil {
		t.Error("process 0 used CPU")
	}
	now, peak, err := MemoryOf(os.Getpid())
	if err != nil || now < 1<<20 || peak < now {
		t.Errorf("got %d, %d octets, %v", now, peak, err)
	}
}

func TestPercentilesAreByNearestRank(t *testing.T) {
	var all Times
	for i := 100; i > 0; i-- {
		all = append(all, time.Duration(i))
	}
	for p, want := range map[int]time.Duration{50: 50, 99: 99, 100: 100} {
		if got := all.Percentile(p); got != want {
			t.Errorf("the %dth percentile of 1 to 100 is %d, want %d", p, got, want)
		}
	}
	if got := (Times{7}).Percentile(50); got != 7 {
		t.Errorf("the median of one time is %d", got)
	}
}

func TestGoalsAreMetOrMissed(t *testing.T) {
	for _, c := range []struct {
		row  Row
		want Row
	}{
		{AtMost("x", "%.1f", 2, 2), Row{"x", "2.0", "≤ 2.0  met"}},
		{AtMost("x", "%.1f s", 2.1, 2), Row{"x", "2.1 s", "≤ 2.0 s  MISSED"}},
		{AtLeast("x", "%.1f", 2, 2), Row{"x", "2.0", "≥ 2.0  met"}},
		{AtLeast("x", "%.1f", 1.9, 2), Row{"x", "1.9", "≥ 2.0  MISSED"}},
	} {
		if c.row != c.want {
			t.Errorf("got %q, want %q", c.row, c.want)
		}
	}
}

func TestFiguresAreAddedToThoseThatAreThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	more := map[string]any{"dns_qps": 2}
	for _, c := range []struct{ before, want string }{
		{"", `{"dns_qps":2}` + "\n"},
		{`{"n":1,"dns_qps":1}`, `{"dns_qps":2,"n":1}` + "\n"},
	} {
		if c.before != "" {
			if err := os.WriteFile(file, []byte(c.before), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := Add(file, more); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != c.want {
			t.Errorf("after %q there is %q, %v, want %q", c.before, got, err, c.want)
		}
	}
	if err := os.WriteFile(file, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Add(file, more); err == nil {
		t.Error("what is no JSON was overwritten")
	}
}

func TestTablesFit120Columns(t *testing.T) {
	var out strings.Builder
	rows := []Row{Note("CPU seconds of the creates", strings.TrimSpace(strings.Repeat("kube-apiserver 46.1, ", 9))),
		AtMost("served / creates alone", "%.2f", 1.06, 1.25)}
	if err := Table(&out, "all", rows); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if want := 8; len(lines) != want || !strings.Contains(lines[7], "1.06") || !strings.Contains(lines[7], "met") {
		t.Errorf("%d lines, want %d:\n%s", len(lines), want, out.String())
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if n := strings.Count(out.String(), "46.1"); n != 9 {
		t.Errorf("%d of 9 figures are left", n)
	}
}
