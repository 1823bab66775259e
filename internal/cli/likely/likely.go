// Package likely finds what somebody meant who wrote an unknown word: the nearest known one.
package likely

import (
	"math"
	"strings"
)

// Word returns that of some words which somebody is likely to have meant by one that is none of
// them: the same in other letters of case, with a slip or two, or one that begins as it does. It
// is "" where nothing is near.
func Word(word string, words []string) string {
	best, least := "", math.MaxInt
	for _, w := range words {
		lower := strings.ToLower(w)
		n := Slips(strings.ToLower(word), lower)
		if n > tolerable(word) {
			if n = math.MaxInt; len(word) >= minBeginning && strings.HasPrefix(lower, strings.ToLower(word)) {
				n = MaxSlips + 1
			}
		}
		if n < least {
			best, least = w, n
		}
	}
	return best
}

// Said returns the question that follows a sentence about a word, or "".
func Said(word string, words []string) string {
	if w := Word(word, words); w != "" {
		return "; did you mean " + w + "?"
	}
	return ""
}

// minBeginning is how long the beginning of a word has to be so that it tells which word is meant.
const minBeginning = 4

// tolerable is how many slips a word may have: of one with three letters, two are another word.
func tolerable(word string) int { return min(MaxSlips, len(word)/2) }

// MaxSlips is how many letters somebody may have got wrong.
const MaxSlips = 2

// Slips returns how many letters have to be put in, left out, replaced or swapped with their
// neighbour to make one word of another, up to MaxSlips+1.
func Slips(a, b string) int {
	if len(a)-len(b) > MaxSlips || len(b)-len(a) > MaxSlips {
		return MaxSlips + 1
	}
	var before []int // the row before the last
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return min(last[len(b)], MaxSlips+1)
}
