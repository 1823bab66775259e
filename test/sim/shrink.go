package sim

import "slices"

// Shrink returns the shortest life found that still fails: each step is left out that it fails without. fails returns
// the life with the fault that it fails with, and false if it does not fail or cannot be lived.
func Shrink(l Life, fails func(Life) (Life, bool)) Life {
	for many := len(l.Steps) / 2; many > 0; {
		shorter := false
		for at := 0; at+many <= len(l.Steps); {
			next := l
			next.Steps = slices.Delete(slices.Clone(l.Steps), at, at+many)
			if failed, ok := fails(next); ok {
				l, shorter = failed, true
			} else {
				at += many
			}
		}
		if !shorter || many > 1 {
			many /= 2
		}
	}
	return l
}
