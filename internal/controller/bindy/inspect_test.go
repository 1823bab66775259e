package bindy

import (
	"errors"
	"fmt"

	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/rr"
)

// inspected complains unless it is known of two primaries and a secondary when they were heard of, and what the
// primaries have of a record.
func (s *stage) inspected(namespace, address string) string {
	if _, err := s.known.Inspect(dialect.ZoneID(namespace, "none")); !errors.Is(err, delivery.ErrUnknown) {
		return fmt.Sprintf("of a zone that is not there it says %v", err)
	}
	for id, shown := range map[string]bool{"zone": false, "record": true} {
		at := dialect.ZoneID(namespace, "example")
		if shown {
			at = dialect.RecordID(rr.TypeA, namespace, "www")
		}
		found, err := s.known.Inspect(at)
		if err != nil || found.Zone.String() != "example.com." || len(found.Servers) != 3 {
			return fmt.Sprintf("of the %s it says %+v, %v", id, found, err)
		}
		for i, one := range found.Servers {
			secondary := i == 2
			if one.Heard.IsZero() || one.Serial == 0 || one.Message != "" || one.Failures > 0 ||
				one.Shown != (shown && !secondary) || one.Shown && fmt.Sprint(one.Data) != "["+address+"]" {
				return fmt.Sprintf("of the %s it says that server %d is %+v", id, i, one)
			}
		}
	}
	return ""
}
