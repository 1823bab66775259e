package dnshook

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestResultsAreAsManyAsABatchHas(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"a whole batch", `{"results":[` + strings.Repeat("{},", MaxBatch-1) + `{}]}`, MaxBatch},
		{"more than a batch", `{"results":[` + strings.Repeat("{},", MaxBatch) + `{}]}`, 0},
		{"results of results", strings.Repeat(`{"results":[`, 3) + strings.Repeat("]}", 3), 1},
		{"a result that is none", `{"results":[{},7]}`, 0},
	} {
		var a answer
		if err := json.Unmarshal([]byte(c.text), &a); err != nil || len(a.Results) != c.want {
			t.Errorf("%s: %d results, %v", c.name, len(a.Results), err)
		}
		for _, one := range a.Results {
			if len(one.Results) > 0 {
				t.Errorf("%s: a result has results", c.name)
			}
		}
	}
}
