package bind9

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strings"
)

// ZoneType is what named is for a zone.
type ZoneType string

// The types of zones that are added.
const (
	Primary   ZoneType = "primary"
	Secondary ZoneType = "secondary"
)

// A Remote is another server: an address, a port (zero: 53) and the key to sign with ("": none).
type Remote struct {
	Address netip.Addr
	Port    uint16
	Key     string
}

// A Zone is the configuration of a zone that is added to a running server. A nil list is left out, and the server's own
// default holds; an empty one is none.
type Zone struct {
	Type ZoneType
	// File is relative to the server's directory. A secondary zone without one is lost with a restart.
	File          string
	Primaries     []Remote // of a secondary zone
	AllowQuery    ACL
	AllowUpdate   ACL // of a primary zone
	AllowTransfer ACL
	AlsoNotify    []Remote
	DNSSECPolicy  string
	InlineSigning *bool

	others []string // clauses that named showed and that are none of these, as they were
}

// render writes the clauses in braces.
func (z Zone) render() (string, error) {
	if err := z.check(); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "{ type %s;", z.Type)
	if z.File != "" {
		fmt.Fprintf(&b, ` file "%s";`, z.File)
	}
	if z.Type == Secondary {
		fmt.Fprintf(&b, " primaries {%s};", remotes(z.Primaries))
	}
	for _, l := range []struct {
		clause string
		acl    ACL
	}{{"allow-query", z.AllowQuery}, {"allow-update", z.AllowUpdate}, {"allow-transfer", z.AllowTransfer}} {
		if l.acl != nil {
			fmt.Fprintf(&b, " %s {%s};", l.clause, l.acl.list())
		}
	}
	if z.AlsoNotify != nil {
		fmt.Fprintf(&b, " also-notify {%s};", remotes(z.AlsoNotify))
	}
	if z.DNSSECPolicy != "" {
		fmt.Fprintf(&b, ` dnssec-policy "%s";`, z.DNSSECPolicy)
	}
	if z.InlineSigning != nil {
		fmt.Fprintf(&b, " inline-signing %s;", yesNo(*z.InlineSigning))
	}
	for _, clause := range z.others {
		b.WriteString(" " + clause)
	}
	return b.String() + " };", nil
}

func (z Zone) check() error {
	switch {
	case z.Type != Primary && z.Type != Secondary:
		return fmt.Errorf("its type is %s; write primary or secondary", quoteShort(string(z.Type)))
	case z.Type == Secondary && len(z.Primaries) == 0:
		return errors.New("it is secondary and has no primaries; name at least one")
	case z.Type == Primary && len(z.Primaries) > 0:
		return errors.New("it is primary and has primaries; remove them, or make it secondary")
	case z.Type == Primary && z.File == "":
		return errors.New("it is primary and has no file")
	case z.Type == Secondary && z.AllowUpdate != nil:
		return errors.New("it is secondary and accepts no updates; remove allow-update")
	}
	if z.DNSSECPolicy != "" {
		if err := checkName("DNSSEC policy", z.DNSSECPolicy); err != nil {
			return err
		}
	}
	for _, r := range append(append([]Remote{}, z.Primaries...), z.AlsoNotify...) {
		if err := r.check(); err != nil {
			return err
		}
	}
	return checkFile(z.File)
}

func (r Remote) check() error {
	if err := checkAddress(r.Address); err != nil {
		return fmt.Errorf("the server %s: %w", quoteShort(r.Address.String()), err)
	}
	if r.Key != "" {
		return checkName("key name", r.Key)
	}
	return nil
}

// checkFile accepts a path without anything that the parser or the file system would take for something else.
func checkFile(file string) error {
	for i := range len(file) {
		if !inName(file[i]) && !strings.ContainsRune("./+", rune(file[i])) {
			return fmt.Errorf("the file name %s has the character %q; use letters, digits, '-', '_', '.', '+' and '/'",
				quoteShort(file), file[i])
		}
	}
	if file != "" && (path.Clean(file) != file || strings.HasPrefix(file, "../") || file == ".." || file == ".") {
		return fmt.Errorf("the file name %s is not a plain path; leave out . and .. and double slashes", quoteShort(file))
	}
	return nil
}

// remotes is the inside of the braces of primaries and also-notify.
func remotes(all []Remote) string {
	var b strings.Builder
	for _, r := range all {
		b.WriteString(" " + r.String() + ";")
	}
	return b.String() + " "
}

// String is the server as BIND writes it.
func (r Remote) String() string {
	text := r.Address.String()
	if r.Port != 0 {
		text += fmt.Sprintf(" port %d", r.Port)
	}
	if r.Key != "" {
		text += fmt.Sprintf(` key "%s"`, r.Key)
	}
	return text
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
