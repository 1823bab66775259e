package change

import (
	"fmt"
	"io"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// Done is what freeze, thaw and rollback print as JSON of what has become of a zone.
type Done struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	FQDN      string `json:"fqdn"`
	Serial    *int64 `json:"serial"`  // of what is published; null: nothing is
	Message   string `json:"message"` // "": nobody has waited for the operator
}

// print prints what has become of a zone, and in words only the sentence.
func (f *Freezing) print(z *command.FoundZone, sentence string) error {
	d := Done{z.Kind, z.Namespace, z.Name, z.FQDN, nil, sentence}
	if z.Serial != 0 {
		d.Serial = &z.Serial
	}
	return f.Form.Print(f.Env, d, func(out io.Writer) {
		if sentence != "" {
			fmt.Fprintln(out, plain.Line(sentence))
		}
	})
}

// Approved is what approve prints as JSON.
type Approved struct {
	Approved []ApprovedPlan `json:"approved"` // none: no deletions are held
}

// An ApprovedPlan is the deletions that are made of one zone.
type ApprovedPlan struct {
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Backend   string   `json:"backend"` // where a deleted Zone has left them behind; "": the zone is there
	Plan      string   `json:"plan"`
	Sets      int64    `json:"sets"`     // 0: all of the zone
	Examples  []string `json:"examples"` // some of them
}

// print prints what is approved: the lines in words.
func (a *Approval) print(done []ApprovedPlan, lines ...string) error {
	return a.Form.Print(a.env, Approved{append([]ApprovedPlan{}, done...)}, func(out io.Writer) {
		for _, line := range lines {
			fmt.Fprintln(out, plain.Line(line))
		}
	})
}

// HandedOver is what adopt and disown print as JSON.
type HandedOver struct {
	Backend string         `json:"backend"`
	Zones   []comparedZone `json:"zones"`
	Message string         `json:"message"`
	Written bool           `json:"written"` // by --yes
	Done    bool           `json:"done"`    // there is no other step
	Unseen  []string       `json:"unseen"`  // what of a cluster could not be seen
}
