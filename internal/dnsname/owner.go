package dnsname

import (
	"fmt"
	"strings"
)

// CheckOwner says why kubi.zone does not take n as the name of a Zone or
// Record, though DNS would: a label that begins or ends with a hyphen, and a
// "*" that is not the whole first label.
func CheckOwner(n Name) error { return checkOwner(n.s, strings.TrimSuffix(n.s, ".")) }

// CheckRelativeOwner is CheckOwner for a partial name.
func CheckRelativeOwner(r Relative) error { return checkOwner(r.s, r.s) }

func checkOwner(shown, rest string) error {
	for first := true; rest != ""; first = false {
		label, after, _ := cutLabel(rest)
		rest = after
		switch {
		case label[0] == '-':
			return fmt.Errorf("%s has a label that begins with a hyphen", quote(shown))
		case label[len(label)-1] == '-':
			return fmt.Errorf("%s has a label that ends with a hyphen", quote(shown))
		case strings.IndexByte(label, '*') < 0 || first && label == "*":
		case label == "*":
			return fmt.Errorf(`%s has a "*" that is not its first label: a wildcard stands for everything to its left`,
				quote(shown))
		default:
			return fmt.Errorf(`%s has a "*" inside a label: a wildcard is a whole label`, quote(shown))
		}
	}
	return nil
}
