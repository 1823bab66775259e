package sim

import (
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strconv"
)

// An author writes a random life. Whoever writes about one dialect has one.
type author struct {
	*rand.Rand
	steps []Step
	// objects: no name is used twice, as what becomes of an object that is being deleted depends on when it is written
	made int
	late string
}

// A plot is what people and servers do of one dialect.
type plot interface {
	prepare()   // before an operator begins: servers, and what they are reached by
	turn()      // one thing happens
	mend()      // what was wrong with servers ends
	deleteAll() // all objects go that servers have something for
}

// RandomLife writes a life of the dialect of a name, or, if that is empty, of one or of all, with about so many steps.
// The same random numbers write the same life.
func RandomLife(r *rand.Rand, steps int, dialect string) Life {
	a := &author{Rand: r}
	dialects := []string{"kubizone", "homelab", "gardener", "bindy"}
	plots := []plot{newZoneLife(a), newClassLife(a), newAccountLife(a), newFleetLife(a)}
	only := a.IntN(len(plots) + 1)
	if i := slices.Index(dialects, dialect); i >= 0 {
		only = i
	}
	if only < len(plots) {
		dialects, plots = dialects[only:only+1], plots[only:only+1]
	}
	for _, p := range plots {
		p.prepare()
	}
	if a.IntN(2) == 0 {
		a.step("operators 2", "")
	}
	begin := "begin"
	for _, d := range dialects {
		begin += " " + d
	}
	a.step(begin, "")
	troubled := a.IntN(3) == 0
	for range steps {
		if troubled && a.IntN(4) == 0 {
			a.trouble()
		}
		plots[a.IntN(len(plots))].turn()
		a.step("wait "+a.choose(pauses), "")
	}
	a.ease()
	for _, p := range plots {
		p.mend()
	}
	if a.IntN(3) == 0 {
		for _, p := range plots {
			p.deleteAll()
		}
	}
	return Life{Name: "People and servers do what comes to their minds.", Steps: a.steps}
}

// RandomFault chooses one of the faults that a life with so many effects may meet.
func RandomFault(r *rand.Rand, effects int) Fault {
	kinds := []Kind{CrashBefore, CrashAfter, Pause}
	return Fault{Kind: kinds[r.IntN(len(kinds))], At: 1 + r.IntN(max(effects, 1))}
}

func (a *author) step(text, data string) {
	if data != "" {
		data += "\n"
	}
	a.steps = append(a.steps, Step{text, []byte(data)})
}

func (a *author) choose(from []string) string { return from[a.IntN(len(from))] }

// name is one that no object had.
func (a *author) name() string {
	a.made++
	return a.choose(places) + "/n" + strconv.Itoa(a.made)
}

// drop deletes one of some objects, and returns its name.
func (a *author) drop(from *[]string, kind string) string {
	if len(*from) == 0 {
		return ""
	}
	i := a.IntN(len(*from))
	name := (*from)[i]
	*from = slices.Delete(*from, i, i+1)
	a.step("delete "+kind+" "+name, "")
	return name
}

// dropAll deletes all of some objects, with pauses.
func (a *author) dropAll(from *[]string, kind string) {
	for len(*from) > 0 {
		a.drop(from, kind)
		a.step("wait "+a.choose(pauses), "")
	}
}

// trouble has something be wrong with the API server for a while.
func (a *author) trouble() {
	switch a.IntN(3) {
	case 0:
		a.ease()
		a.late = a.choose([]string{"zones", "records", "backends", "dnsrecords", "dnsclasses", "secrets", "dnszones",
			"bind9instances", "pods", "deployments"})
		a.step("late "+a.late+" "+a.choose([]string{"1s", "60s", "10m"}), "")
	case 1:
		a.step("failing "+a.choose([]string{"409", "429", "500", "timeout"})+" "+a.choose([]string{"before", "after"})+" "+
			a.choose([]string{"1s", "30s"}), "")
	case 2:
		a.step("gone "+a.choose([]string{"5s", "3m"}), "")
	}
}

// ease ends the trouble that does not end by itself.
func (a *author) ease() {
	if a.late != "" {
		a.step("late "+a.late+" 0s", "")
	}
	a.late = ""
}

// encoded is a value of a Secret.
func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// key is a version of a key.
func key(version int) string { return encoded("a secret of version " + strconv.Itoa(version)) }

// What random lives are about.
var (
	places = []string{"a", "b"} // namespaces
	pauses = []string{"0s", "10ms", "100ms", "1s", "5s", "30s"}
)
