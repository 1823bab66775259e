package sim

import (
	"encoding/base64"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An author writes a random life. Whoever writes about one dialect has one.
type author struct {
	*rand.Rand
	steps []Step
	// objects: no name is used twice, as what becomes of an object that is being deleted depends on when it is written
	made    int
	lasting string            // trouble that does not end by itself, but for how long things are late
	mending bool              // what is written now ends what was wrong
	now     int               // the turn that is being written, from 1 on; 0: none
	said    map[string]string // of objects in namespaces, by kind and name
	watched []string          // resources that operators watch beside those of dialects
}

// A plot is what people and servers do of one dialect.
type plot interface {
	prepare()   // before an operator begins: servers, and what they are reached by
	turn()      // one thing happens
	mend()      // what was wrong with servers ends
	deleteAll() // all objects go that servers have something for
}

// RandomLife writes a life of the dialect of a name, or, if that is empty, of one or of all, with about so many steps;
// "sources" is kubizone with sources. The same random numbers write the same life.
func RandomLife(r *rand.Rand, steps int, dialect string) Life {
	a := &author{Rand: r, said: map[string]string{}}
	dialects := []string{"kubizone", "homelab", "gardener", "bindy"}
	plots := []plot{newZoneLife(a), newClassLife(a), newAccountLife(a), newFleetLife(a)}
	only := a.IntN(len(plots) + 1)
	if i := slices.Index(dialects, dialect); i >= 0 {
		only = i
	}
	switch {
	case dialect == "sources":
		dialects, plots = dialects[:1], []plot{newSourceLife(a)}
	case only < len(plots):
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
	for i := range steps {
		if troubled && a.IntN(4) == 0 {
			a.trouble()
		}
		a.now = i + 1
		switch a.IntN(16) {
		case 0:
			a.remake(plots)
		case 1:
			a.step("clock "+a.choose([]string{"-2h", "2h"}), "")
		default:
			plots[a.IntN(len(plots))].turn()
		}
		a.now = 0
		a.step("wait "+a.choose(pauses), "")
	}
	if a.IntN(8) == 0 {
		a.restored(plots)
	}
	a.mended(func() {
		a.ease()
		for _, p := range plots {
			p.mend()
		}
	})
	if z, is := plots[0].(*zoneLife); is && troubled && len(plots) == 1 && a.IntN(2) == 0 {
		a.now = steps + 1
		z.throttled()
		a.now = 0
	}
	if a.IntN(3) == 0 {
		for _, p := range plots {
			p.deleteAll()
		}
	}
	if slices.Contains(dialects, "kubizone") && a.IntN(3) == 0 {
		a.steps = slices.Insert(a.steps, 0, Step{Text: "entries " + a.choose([]string{"2", "4", "8"})})
	}
	return Life{Name: "People and servers do what comes to their minds.", Steps: a.steps, Lease: seldom}
}

// seldom is the Lease of random lives. It is renewed less often than that of others, and who goes on after a pause of a
// minute mostly finds that nobody has taken over yet.
var seldom = Lease{50 * time.Second, 40 * time.Second, 20 * time.Second}

// RandomFaults has a life meet a fault at one of the effects that it has without, or two.
func RandomFaults(r *rand.Rand, l Life, effects []string) Life {
	if len(effects) == 0 {
		return l
	}
	one := func(kinds ...Kind) Fault { return named(kinds[r.IntN(len(kinds))], effects, r.IntN(len(effects))) }
	l.Fault = one(CrashBefore, CrashAfter, Pause, PauseAfter)
	if r.IntN(3) == 0 {
		l.Then = []Fault{one(CrashBefore, CrashAfter, ShortPause, Pause, PauseAfter, LongPause)}
	}
	return l
}

// manifest finds what a manifest is about, as random lives write them.
var manifest = regexp.MustCompile(
	`apiVersion: (?:([^/\n]+)/)?\w+\nkind: (\w+)\nmetadata: \{name: ([^,}]+), namespace: ([ab])\}`)

func (a *author) step(text, data string) {
	if m := manifest.FindStringSubmatch(data); text == "apply" && m != nil {
		a.said[strings.TrimSuffix(m[2]+"."+m[1], ".")+" "+m[4]+"/"+m[3]] = data
	}
	if of, deleted := strings.CutPrefix(text, "delete "); deleted {
		for which := range a.said {
			if kind, name, _ := strings.Cut(which, " "); name == strings.Fields(of)[1] &&
				strings.HasPrefix(kind, strings.Fields(of)[0]) {
				delete(a.said, which)
			}
		}
	}
	if data != "" {
		data += "\n"
	}
	a.steps = append(a.steps, Step{text, []byte(data), a.mending, a.now})
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

// remake has an object be deleted and made again under its name, or a namespace with all that is in it. Between it and
// others is a second: of two that ask for the same the older one has it.
func (a *author) remake(plots []plot) {
	if len(a.said) == 0 {
		return
	}
	// A DNSRecord of Gardener cannot go without its Secret, which may go first. What becomes of the servers of a fleet is
	// another story. Of sources, what they ask for is written where the addresses are not.
	onlyOne := slices.ContainsFunc(plots, func(p plot) bool {
		switch p.(type) {
		case *accountLife, *fleetLife, *sourceLife:
			return true
		}
		return false
	})
	all := slices.Sorted(maps.Keys(a.said))
	which := a.choose(all)
	kind, name, _ := strings.Cut(which, " ")
	if strings.HasPrefix(kind, "Bind9") {
		return
	}
	whole := a.IntN(4) == 0 && !onlyOne
	if whole || kind != "Record.kubi.zone" && kind != "Secret" {
		for _, p := range plots { // what waits for a server that does not answer is not gone, and cannot be made again
			p.mend()
		}
	}
	a.step("wait 1s", "")
	if whole {
		a.step("replace", "{apiVersion: v1, kind: Namespace, metadata: {name: "+name[:1]+"}}")
	}
	for _, one := range all {
		if _, other, _ := strings.Cut(one, " "); whole && other[0] == name[0] {
			a.step("wait 1s", "")
			a.step("apply", a.said[one])
		}
	}
	if !whole {
		a.step("replace", a.said[which])
	}
	a.step("wait 1s", "")
}

// trouble has something be wrong with the API server for a while.
func (a *author) trouble() {
	kinds := []string{"zones", "records", "backends", "dnsrecords", "dnsclasses", "secrets", "zoneslices", "namespaces",
		"dnszones", "bind9instances", "pods", "deployments"}
	kinds = append(kinds, a.watched...)
	many := 8
	if len(a.watched) > 0 {
		many = 9
	}
	switch a.IntN(many) {
	case 8:
		a.step("unread "+a.choose(a.watched)+" "+a.choose([]string{"10s", "5m"}), "")
	case 3:
		a.step("expire "+a.choose(kinds), "")
	case 4:
		a.step("broken "+a.choose(kinds)+" "+a.choose([]string{"5s", "60s"}), "")
		a.step("expire "+a.choose(kinds), "")
	case 5:
		a.step("absent "+a.choose([]string{"1s", "30s", "5m"}), "")
	case 0:
		a.lasts("late "+a.choose(kinds), "1s", "60s", "10m")
	case 7: // whoever leads next
		a.lasts("behind "+a.choose(kinds), "1s", "60s", "10m")
	case 6:
		a.lasts("tardy "+a.choose([]string{"status", a.choose(kinds), a.choose(kinds) + "/status"}), "1s", "10s")
	case 1:
		of := ""
		if a.IntN(2) == 0 {
			of = a.choose([]string{"status", a.choose(kinds), a.choose(kinds) + "/status"}) + " "
		}
		a.step("failing "+a.choose(failures)+" "+a.choose(moments)+" "+of+a.choose([]string{"1s", "30s"}), "")
	case 2:
		a.step("gone "+a.choose([]string{"5s", "3m"}), "")
	}
}

// lasts has something be late for one of some times, until the next such trouble begins, or this is eased.
func (a *author) lasts(what string, times ...string) {
	a.ease()
	a.lasting = what
	a.step(what+" "+a.choose(times), "")
}

// ease ends the trouble that does not end by itself.
func (a *author) ease() {
	if a.lasting != "" {
		a.mended(func() { a.step(a.lasting+" 0s", "") })
	}
	a.lasting = ""
}

// calm has what was wrong end, and all be done.
func (a *author) calm(plots ...plot) {
	a.ease()
	for _, p := range plots {
		p.mend()
	}
	a.rest()
}

// rest waits until all is done. An API server is in trouble for five minutes at most, and whoever has failed for that
// long tries again after as long; an operator may wait for the Lease of another before.
func (a *author) rest() { a.step("wait 15m", "") }

// mended writes steps by which what was wrong ends.
func (a *author) mended(write func()) {
	before := a.mending
	a.mending = true
	write()
	a.mending = before
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
