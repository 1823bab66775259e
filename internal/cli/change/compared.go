package change

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Compared is what diff prints.
type Compared struct {
	Zones  []comparedZone `json:"zones"`  // each at each server, also those without a difference
	Unseen []string       `json:"unseen"` // what of a cluster could not be seen
}

// comparedZone is how one zone stands at one server.
type comparedZone struct {
	Kind    string         `json:"kind"`
	Zone    *explained.Ref `json:"zone"`
	FQDN    string         `json:"fqdn"`
	Backend string         `json:"backend"` // "": the server was named by --server
	Server  string         `json:"server"`  // "": not known
	Mode    string         `json:"mode"`    // of the Backend, Sync or Observe
	Serial  *uint32        `json:"serial"`  // that the server has; null: not known
	Missing bool           `json:"missing"` // the server has no such zone
	Changes []plannedSet   `json:"changes"` // old is what the server holds, new what is wanted
	Refused []refusedSet   `json:"refused"` // what is wanted, and would not be written
	Foreign []foreignSet   `json:"foreign"` // what nobody wants, and stays
	Error   string         `json:"error"`   // why nothing is known
}

// refusedSet is a set that the server, or somebody who has it, does not let zonefold write.
type refusedSet struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Reason string `json:"reason"`

	key rr.Key
}

// foreignSet is a set that is no business of zonefold's.
type foreignSet struct {
	Name  string   `json:"name"`
	Type  string   `json:"type"`
	TTL   uint32   `json:"ttl"`
	Data  []string `json:"data"`
	Owner string   `json:"owner"` // by a registry of external-dns; "": nobody says
}

// print prints what was found, and returns what the program ends with.
func (d *Compared) print(env command.Env, form command.Output) error {
	if err := form.Print(env, d, d.write); err != nil {
		return err
	}
	if len(d.Zones) == 0 && len(d.Unseen) > 0 {
		return errors.New("no zone is visible; ask for the right to list zones or dnszones, or name your namespace " +
			"with -n")
	}
	code := command.ExitDone
	for _, z := range d.Zones {
		switch {
		case z.Error != "":
			return &command.ExitError{Code: command.ExitTrouble}
		case z.Differs():
			code = command.ExitDifferences
		}
	}
	if code != command.ExitDone {
		return &command.ExitError{Code: code}
	}
	return nil
}

func (z *comparedZone) Differs() bool { return z.Missing || len(z.Changes)+len(z.Refused) > 0 }

// deletes reports whether servers have sets of zonefold that no object asks for, as far as the objects were read.
func (d *Compared) deletes() bool {
	return slices.ContainsFunc(d.Zones, func(z comparedZone) bool {
		return slices.ContainsFunc(z.Changes, func(s plannedSet) bool { return s.sign() == "-" })
	})
}

// write writes what was found, for people.
func (d *Compared) write(out io.Writer) {
	var sets [3]int // to add, change and delete
	differing, broken, foreign := 0, 0, 0
	for i := range d.Zones {
		z := &d.Zones[i]
		z.write(out)
		foreign += len(z.Foreign)
		for _, s := range z.Changes {
			sets[strings.Index("+~-", s.sign())]++
		}
		if z.Error != "" {
			broken++
		} else if z.Differs() {
			differing++
		}
	}
	for _, what := range command.Together(d.Unseen) {
		fmt.Fprintf(out, "Not seen: %s\n", plain.Line(what))
	}
	fmt.Fprintf(out, "%s compared, %d with differences: %s to add, %d to change, %d to delete; %s.\n",
		command.Count(len(d.Zones)-broken, "zone"), differing, command.Count(sets[0], "set"), sets[1], sets[2],
		command.Count(foreign, "foreign set")+" would stay")
	if broken > 0 {
		fmt.Fprintf(out, "%s could not be compared.\n", command.Count(broken, "zone"))
	}
}

func (z *comparedZone) write(out io.Writer) {
	fmt.Fprintln(out, plain.Line(z.Title()))
	for _, s := range z.Changes {
		for _, line := range s.Lines() {
			fmt.Fprintf(out, "  %s\n", plain.Line(line))
		}
	}
	for _, s := range z.Refused {
		fmt.Fprintf(out, "  ! %s %s is not written: %s\n", s.Name, s.Type, plain.Line(s.Reason))
	}
	for _, s := range z.Foreign {
		owner := ""
		if s.Owner != "" {
			owner = fmt.Sprintf(" (of owner %q of external-dns)", s.Owner)
		}
		for _, data := range s.Data {
			fmt.Fprintf(out, "  = %s %d IN %s %s%s\n", s.Name, s.TTL, s.Type, plain.Line(data), plain.Line(owner))
		}
	}
	fmt.Fprintln(out)
}

// Title names a zone and the server that it is at.
func (z *comparedZone) Title() string {
	at := z.Server
	if z.Backend != "" {
		at = strings.TrimSpace("Backend " + z.Backend + " " + z.Mode)
		if z.Server != "" {
			at += ", " + z.Server
		}
	}
	title := fmt.Sprintf("%s (%s)", z.FQDN, zone.ID{Kind: z.Kind, Namespace: z.Zone.Namespace, Name: z.Zone.Name})
	if at != "" {
		title += " at " + at
	}
	switch {
	case z.Error != "":
		return title + " could not be compared: " + z.Error
	case z.Missing:
		return title + ": the server has no such zone"
	}
	if z.Serial != nil {
		title += fmt.Sprintf(", serial %d", *z.Serial)
	}
	if !z.Differs() {
		title += ": no difference"
	}
	return title
}
