package console

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// vendored are the files that come from npm packages, with what their SHA-256 is there.
var vendored = map[string]string{
	// htmx.org 2.0.11, dist/htmx.min.js
	"assets/htmx.min.js": "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717",
	// htmx-ext-sse 2.2.4, dist/sse.min.js
	"assets/sse.min.js": "98a46496de0c3605fbffdce9167ba427bdd9553184f83f149c261891a92c0136",
	// axe-core 4.14.1, axe.min.js
	"testdata/axe/axe.min.js": "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c",
}

func TestVendoredFilesAreThoseOfTheirPackages(t *testing.T) {
	for name, want := range vendored {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has the SHA-256 %x; it is to be the file of the package, unchanged", name, sum)
		}
	}
	for _, licence := range []string{"assets/htmx.LICENSE", "assets/sse.LICENSE", "testdata/axe/LICENSE"} {
		if text, err := os.ReadFile(licence); err != nil || len(text) < 100 {
			t.Errorf("there is no licence %s: %v", licence, err)
		}
	}
	for _, script := range []string{"assets/htmx.min.js", "assets/sse.min.js"} {
		if _, err := assets.ReadFile(script); err != nil {
			t.Errorf("%s is not in the program: %v", script, err)
		}
	}
}

func TestPagesLoadNothingFromElsewhere(t *testing.T) {
	files, err := templates.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := templates.ReadFile("templates/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"http:", "https:", `"//`, "<style", " style=", " onclick=", "javascript:"} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s has %q", file.Name(), bad)
			}
		}
	}
}
