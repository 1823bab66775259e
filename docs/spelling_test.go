package docs_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dictionary is the list of words of British English that hack/prerequisites installs.
const dictionary = "/usr/share/dict/british-english"

// TestSpelling holds every word of the prose of all pages against the dictionary and docs/testdata/words.txt. What
// stands in code, links and domain names is not prose; neither are abbreviations, nor names like ZoneSlice.
func TestSpelling(t *testing.T) {
	text, err := os.ReadFile(dictionary)
	if err != nil {
		t.Fatalf("%v; run: go run ./hack/prerequisites", err)
	}
	known := map[string]bool{}
	for word := range strings.Lines(strings.ToLower(string(text))) {
		known[strings.TrimSpace(word)] = true
	}
	own := strings.Fields(read(t, "docs/testdata/words.txt"))
	if !slices.IsSorted(own) {
		t.Error("docs/testdata/words.txt is not sorted")
	}
	for _, p := range pages(t) {
		for _, word := range p.words() {
			plain := strings.TrimSuffix(word, "'s")
			if _, is := slices.BinarySearch(own, plain); !is && !known[word] && !known[plain] {
				t.Errorf("%s: nobody spells %q so; if it is right, it belongs into docs/testdata/words.txt", p.path, word)
			}
		}
	}
}

// words returns the words of the prose of a page, in small letters.
func (p page) words() []string {
	prose := p.prose()
	for _, beside := range []string{
		"`[^`]*`", `\]\([^)]*\)`, `<?https?://\S+`, // code and links
		`[\pL\pN*-]+(?:\.[\pL\pN*-]+)+`, // names with dots
		`\b\pL*\p{Ll}\p{Lu}\pL*\b`,      // ZoneSlice
		`\b\p{Lu}{2,}s?\b`,              // TSIG, IDs
	} {
		prose = regexp.MustCompile(beside).ReplaceAllString(prose, " ")
	}
	var found []string
	for _, word := range regexp.MustCompile(`\pL+(?:['’]\pL+)?`).FindAllString(prose, -1) {
		found = append(found, strings.ReplaceAll(strings.ToLower(word), "’", "'"))
	}
	return found
}
