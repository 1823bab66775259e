package servers

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
)

// A Difference is what a server shows otherwise than it should have it.
type Difference struct {
	Kind string // equal as long as nothing is to be gained by another try; "": there is none
	Text string // for people
}

// Absent is the kind of what a server does not show at all.
const Absent = "absent"

// DifferenceOf compares what a server has, as far as it says it, with what it should have. Less than the TTL is one
// kind, however much less: there are servers that count it down.
func DifferenceOf(got, want dnshook.Record) Difference {
	if got.Metadata == nil {
		got.Metadata = want.Metadata
	}
	said := got.TTL
	is, err := got.Canonical()
	if err != nil {
		return different("something that is none (%v)", err)
	}
	if have, values := slices.Sorted(slices.Values(is.Values)),
		slices.Sorted(slices.Values(want.Values)); !slices.Equal(have, values) {
		return different("the values %s instead of %s", strings.Join(have, ", "), strings.Join(values, ", "))
	}
	if m, n := is.Metadata, want.Metadata; m != nil && n != nil && dialect.TermsOf(is) != dialect.TermsOf(want) {
		return different("the numbers %s instead of %s", dialect.TermsOf(is), dialect.TermsOf(want))
	}
	if said == 0 || is.TTL == want.TTL {
		return Difference{}
	}
	d := different("the TTL %d instead of %d", is.TTL, want.TTL)
	if is.TTL < want.TTL {
		d.Kind = "less than the TTL"
	}
	return d
}

func different(format string, args ...any) Difference {
	text := fmt.Sprintf(format, args...)
	return Difference{fmt.Sprint(sha256.Sum256([]byte(text))), controller.Note(text)}
}
