package change

import (
	"fmt"
	"strings"
)

// Released is what release prints as JSON.
type Released struct {
	Zones      []ReleasedZone `json:"zones"`
	ZoneSlices int            `json:"zoneSlices"` // that were released
	DryRun     bool           `json:"dryRun"`     // nothing is written: it is what would be done
}

// A ReleasedZone is what became of one Zone.
type ReleasedZone struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Action    string   `json:"action"`  // asked: the operator lets it go; released; none: it has no finalizer
	Deleted   bool     `json:"deleted"` // and so it is gone
	Left      []LeftAt `json:"left"`    // where it stays published
}

// LeftAt is where a zone stays published.
type LeftAt struct {
	Backend string `json:"backend"`
	FQDN    string `json:"fqdn"`
	Serial  *int64 `json:"serial"` // null: it is not sure that it is there
}

// sentence says it for people.
func (z *ReleasedZone) sentence(dryRun bool) string {
	name := "Zone " + z.Namespace + "/" + z.Name
	if z.Action == "none" {
		return name + " has no finalizer of zonefold; nothing to do"
	}
	what := "is released"
	if dryRun {
		what = "would be released"
	}
	if z.Deleted {
		what += ", and so deleted"
	}
	var left []string
	for _, at := range z.Left {
		if at.Serial != nil {
			left = append(left, fmt.Sprintf("%s stays published at %s", at.FQDN, at.Backend))
		} else {
			left = append(left, fmt.Sprintf("%s may be published at %s", at.FQDN, at.Backend))
		}
	}
	if len(left) == 0 {
		left = []string{"no Backend received it"}
	}
	return fmt.Sprintf("%s %s; %s", name, what, strings.Join(left, ", "))
}
