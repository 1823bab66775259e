package v1alpha1

import (
	"encoding/json"
	"math"
	"testing"
)

func TestEveryWholeNumberDecodes(t *testing.T) {
	tests := []struct {
		name string
		text string
		want Number
	}{
		{"zero", `0`, 0},
		{"the largest that the schema allows", `2147483647`, math.MaxInt32},
		{"the largest u32", `4294967295`, math.MaxUint32},
		{"one beyond u32", `4294967296`, math.MaxUint32 + 1},
		{"the largest int64 is exact", `9223372036854775807`, math.MaxInt64},
		{"one beyond int64 becomes the largest int64", `9223372036854775808`, math.MaxInt64},
		{"a number in the form in which the API server stores a large one", `1e+30`, math.MaxInt64},
		{"a number beyond float64", `1e400`, math.MaxInt64},
		{"a negative number", `-1`, -1},
		{"a number below int64 becomes the smallest int64", `-1e30`, math.MinInt64},
		{"a number below float64", `-1e400`, math.MinInt64},
		{"a whole number with a fraction of zero", `360.0`, 360},
		{"a whole number with an exponent", `3.6e2`, 360},
		{"null leaves the number alone", `null`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var n Number
			if err := json.Unmarshal([]byte(tt.text), &n); err != nil || n != tt.want {
				t.Errorf("got %d, %v; want %d", n, err, tt.want)
			}
		})
	}
}

func TestWhatIsNoWholeNumberIsAnError(t *testing.T) {
	for _, text := range []string{`"360"`, `""`, `1.5`, `true`, `[1]`, `{}`} {
		n := Number(7)
		if err := json.Unmarshal([]byte(text), &n); err == nil {
			t.Errorf("%s decodes to %d; want an error", text, n)
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, seed := range []string{`0`, `-0`, `1e30`, `9223372036854775807`, `1.5`, `"1"`, `null`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var n, again Number
		if json.Unmarshal([]byte(text), &n) != nil {
			return
		}
		printed, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(printed, &again); err != nil || again != n {
			t.Errorf("%q decodes to %d, which is printed as %s, which decodes to %d, %v", text, n, printed, again, err)
		}
	})
}
