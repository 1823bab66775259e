package sim

import "strings"

// Shrink returns the shortest life found that still fails: each step is left out that it fails without, but for those
// by which what was wrong ends. fails returns the life with the fault that it fails with, and false if it does not fail
// or cannot be lived.
func Shrink(l Life, fails func(Life) (Life, bool)) Life {
	for many := len(l.Steps) / 2; many > 0; {
		shorter := false
		for at := 0; at+many <= len(l.Steps); {
			next := l
			next.Steps = without(l.Steps, at, many)
			if len(next.Steps) < len(l.Steps) {
				if failed, ok := fails(next); ok {
					l, shorter = failed, true
					continue
				}
			}
			at += many
		}
		if !shorter || many > 1 {
			many /= 2
		}
	}
	return l
}

// without leaves so many steps out, and what people ask of objects that nobody makes any more.
func without(steps []Step, at, many int) (out []Step) {
	made := map[string]bool{}
	for i, s := range steps {
		if at <= i && i < at+many && !s.mends {
			continue
		}
		if m := manifest.FindStringSubmatch(string(s.Data)); m != nil {
			made[m[4]+"/"+m[3]] = true
		}
		if words := strings.Fields(s.Text); words[0] == "annotate" && !made[words[2]] {
			continue
		}
		out = append(out, s)
	}
	return out
}
