package rr

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// compileZone lets BIND read a zone and returns, by owner, the rdata that BIND
// prints for the record put there.
func compileZone(t testing.TB, records []string) map[string]string {
	t.Helper()
	zone := "$TTL 300\n@ SOA ns hostmaster 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n" + strings.Join(records, "\n") + "\n"
	cmd := exec.Command("named-compilezone", "-i", "none", "-k", "ignore", "-n", "ignore", "-m", "ignore", "-r", "ignore",
		"-s", "full", "-o", "-", "example.org.", "/dev/stdin")
	cmd.Stdin = strings.NewReader(zone)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		for i, line := range strings.Split(zone, "\n") {
			if strings.Contains(errors.String(), fmt.Sprintf("/dev/stdin:%d:", i+1)) {
				t.Errorf("BIND refuses line %d: %.300s", i+1, line)
			}
		}
		t.Fatalf("named-compilezone (Debian package bind9-utils): %v\n%.2000s", err, errors.String())
	}
	data := map[string]string{}
	for line := range strings.Lines(string(out)) {
		// owner, TTL, class and type, then rdata as it is
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		rest := line
		for _, f := range fields[:4] {
			rest = rest[strings.Index(rest, f)+len(f):]
		}
		data[fields[0]] = strings.TrimSpace(rest)
	}
	return data
}

// master reports whether a master file may hold the type, and its examples any
// owner.
func master(typ Type) bool {
	switch typ {
	case TypeSOA, TypeTKEY, TypeTSIG, TypeNSEC3:
		return false
	}
	return true
}

func TestBINDReadsTheGoodExamples(t *testing.T) {
	var records []string
	want := map[string]example{}
	add := func(e example, typ, data string) {
		owner := fmt.Sprintf("r%d.example.org.", len(records))
		want[owner] = e
		records = append(records, owner+" "+typ+" "+data)
	}
	for _, e := range examples(t) {
		if !e.good || !master(e.typ) || e.typ == 99 { // which BIND prints as SPF
			continue
		}
		add(e, e.typ.String(), e.want)
		c := newCodec(e.typ)
		if err := c.parse(e.data); err != nil {
			t.Fatal(err)
		}
		add(e, e.typ.String(), string(appendGeneric(nil, c.wire)))
		if e.data != e.want && !strings.ContainsRune(e.data, 'ü') && e.typ != TypeURI {
			add(e, e.typ.String(), e.data)
		}
	}
	got := compileZone(t, records)
	for owner, e := range want {
		data := got[owner]
		if data == "" && e.want == `\# 0` {
			data = e.want
		}
		if same, err := ParseData(e.typ, data); err != nil || same != e.want {
			t.Errorf("%s %s: BIND prints %s, which is %s (%v), want %s", e.typ, e.data, data, same, err, e.want)
		}
	}
}

func TestBINDReadsRandomData(t *testing.T) {
	var records []string
	want := map[string]example{}
	for _, typ := range Types() {
		if !master(typ) || typ.Refused() != "" {
			continue
		}
		random := rapid.Custom(func(t *rapid.T) string {
			data, _ := drawData(t, typ)
			return data
		})
		for seed := range 40 {
			data, err := ParseData(typ, random.Example(seed))
			if err != nil {
				t.Fatal(err)
			}
			owner := fmt.Sprintf("r%d.example.org.", len(records))
			records = append(records, fmt.Sprintf("%s %s %s", owner, typ, data))
			want[owner] = example{typ, true, data, data}
		}
	}
	got := compileZone(t, records)
	for owner, e := range want {
		if same, err := ParseData(e.typ, cmpOr(got[owner], `\# 0`)); err != nil || same != e.want {
			t.Errorf("%s %s: BIND prints %s, which is %s (%v)", e.typ, e.data, got[owner], same, err)
		}
	}
}

// BIND prints names as we do, escapes included: owners are what they are here.
func TestBINDPrintsNamesAsWeDo(t *testing.T) {
	zone := name(t, "example.org.")
	random := rapid.Custom(func(t *rapid.T) dnsname.Name { return drawName(t, 4) })
	var records []string
	want := map[string]dnsname.Name{}
	for seed := range 600 {
		r, err := dnsname.ParseRelative(random.Example(seed).In(dnsname.Root))
		if err != nil {
			t.Fatal(err)
		}
		owner, err := r.In(zone)
		if err != nil || r.IsOrigin() || want[owner.String()] == owner {
			continue
		}
		want[owner.String()] = owner
		records = append(records, fmt.Sprintf("%s TXT \"%d\"", owner, seed))
	}
	got := compileZone(t, records)
	for printed := range want {
		if got[printed] == "" {
			t.Errorf("BIND does not print %s", printed)
		}
	}
	if len(want) < 300 {
		t.Errorf("only %d names were drawn", len(want))
	}
}
