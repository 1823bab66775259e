package bind9

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// checkOptions says what of named.conf.options is not as this package writes it: a statement or clause that is not of
// ours, or twice.
func checkOptions(text string) error {
	l := newLexer(text)
	known := strings.Fields(`directory key-directory managed-keys-directory pid-file session-keyfile allow-new-zones flush-zones-on-shutdown version hostname server-id querylog
		minimal-any check-names check-integrity allow-transfer allow-query listen-on listen-on-v6 recursion dnssec-validation max-cache-size empty-zones-enable
		minimal-responses rate-limit forwarders notify notify-delay notify-rate startup-notify-rate serial-query-rate transfers-in transfers-per-ns transfers-out tcp-clients`)
	if t, err := l.next(); err != nil || !t.is("options") {
		return fmt.Errorf("it begins with %q, %w", t.text, err)
	}
	if err := l.expect("{", "options"); err != nil {
		return err
	}
	for {
		clause, err := readClause(l)
		if err != nil {
			return err
		}
		if clause == nil {
			break
		}
		i := slices.Index(known, clause[0].text)
		if i < 0 {
			return fmt.Errorf("it has the clause %s, or has it twice", join(clause))
		}
		known = slices.Delete(known, i, i+1)
	}
	if err := l.expect(";", "options"); err != nil {
		return err
	}
	for range 2 { // the policy of the user's name, and that of zones
		if t, err := l.next(); err != nil || !t.atEnd() && !t.is("dnssec-policy") {
			return fmt.Errorf("after the options is %q, %w", t.text, err)
		} else if t.is("dnssec-policy") {
			if err := skipStatement(l); err != nil {
				return err
			}
		}
	}
	if t, err := l.next(); err != nil || !t.atEnd() {
		return fmt.Errorf("at the end is %q, %w", t.text, err)
	}
	return nil
}

// hostile are values that would say something else than they may, if they were written as they are.
func hostile() []string {
	return []string{
		"any; }; allow-transfer { any", "any;", "any }", `"any"`, "any // ", "any /*", "any#", "any\n", "\tany", "any\x00",
		"!", "!!any", "! !any", "key", "key ", `key "`, `key ""`, `key "a"; any; key "b"`,
		"key a b", "key a;", "key a{", "key\ta", "key  a", "{ any; }", "0.0.0.0/0", "::/0", "10/8", "10.0.0.0/33",
		"1.2.3.4/32", "1.2.3", "0x7f000001", "2130706433", "::ffff:1.2.3.4", "::1%lo", "fe80::/10", "any any",
		"none", "ANY", "localhost", "192.0.2.1:53", "[::1]:53", "192.0.2.1:99999", "192.0.2.1:53;", "192.0.2.1 port 53",
		"unlimited; };", "P1Y", "30d", "P1000000Y", "99999999999999999999d", "default", "_x", "-x", "x.y", "x y",
		"x\"; };", "é", "\u202eany", strings.Repeat("1", 300), "ED25519; }; options { ", "ed448", "..", "/", "9.20",
		"include \"/etc/passwd\"",
	}
}

// TestNoValueBreaksOut puts each hostile value into each field. What is not refused has to say what it says to named
// too: the taken values of a list all at once, those of other fields one by one.
func TestNoValueBreaksOut(t *testing.T) {
	n := claimNamed(t)
	lists, configurations := everywhere("", 0), map[string]Options{}
	taken := 0
	for _, value := range hostile() {
		for field, o := range everywhere(value, 0) {
			files, err := Configuration(o)
			if err != nil {
				if strings.ContainsAny(err.Error(), "\n\x00") {
					t.Errorf("%s %q: the error is not one line: %q", field, value, err)
				}
				continue
			}
			taken++
			if err := checkOptions(files[FileOptions]); err != nil {
				t.Errorf("%s %q: %v", field, value, err)
			}
			if all := lists[field]; list(&o) != nil {
				*list(&all) = append(*list(&all), value)
				lists[field], configurations[field] = all, all
			} else {
				configurations[files[FileOptions]] = o
			}
		}
	}
	if taken < 40 {
		t.Errorf("only %d values were taken, so that little is proved", taken)
	}
	for _, o := range configurations {
		if l := list(&o); l != nil {
			*l = (*l)[1:] // the empty value that everywhere began with
		}
		if err := n.configured(t, o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
		if out, err := n.checkconf(t); err != nil {
			t.Errorf("%+v: named-checkconf: %v\n%s", o, err, out)
		}
	}
}

// list is the one that has something; nil where none has.
func list(o *Options) *[]string {
	for _, l := range []*[]string{&o.AllowQuery, &o.AllowTransfer, &o.Forwarders, &o.ListenOn, &o.ListenOnV6} {
		if len(*l) > 0 {
			return l
		}
	}
	return nil
}

// everywhere puts a value into one field after the other.
func everywhere(value string, number int) map[string]Options {
	values := []string{value}
	signing := func(s Signing) Options {
		s.Enabled, s.NSEC3Iterations, s.NSEC3 = true, number, number != 0
		return Options{Signing: s}
	}
	return map[string]Options{
		"allowQuery": {AllowQuery: values}, "allowTransfer": {AllowTransfer: values},
		"forwarders": {Forwarders: values, Recursion: true},
		"listenOn":   {ListenOn: values}, "listenOnV6": {ListenOnV6: values}, "role": {Role: ZoneType(value)},
		"version": {Version: value},
		"policy":  signing(Signing{Policy: value}), "algorithm": signing(Signing{Algorithm: value}),
		"kskLifetime": signing(Signing{KSKLifetime: value}), "zskLifetime": signing(Signing{ZSKLifetime: value}),
		"nsec3Salt": signing(Signing{NSEC3Salt: value, NSEC3: true}),
	}
}

func FuzzConfiguration(f *testing.F) {
	for _, value := range hostile() {
		f.Add(value, 1)
	}
	f.Fuzz(func(t *testing.T, value string, number int) {
		for field, o := range everywhere(value, number) {
			files, err := Configuration(o)
			if err != nil {
				continue
			}
			if err := checkOptions(files[FileOptions]); err != nil {
				t.Errorf("%s: %v", field, err)
			}
		}
		if c, err := AddZone(value, Zone{Type: Primary, File: "f"}); err == nil && strings.Count(c.text, `"`) != 4 {
			t.Errorf("the zone name %q became %q", value, c.text)
		}
		if c, err := AddZone("x", Zone{Type: Primary, File: value, DNSSECPolicy: value}); err == nil {
			if _, z, err := ParseZone("zone " + strings.TrimPrefix(c.text, "addzone ") + ";"); err != nil || z.File != value ||
				z.DNSSECPolicy != value {
				t.Errorf("the file %q became %q", value, c.text)
			}
		}
	})
}
