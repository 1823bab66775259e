package backendtest

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/rr"
)

// Examples are the good data of package rr's tests, canonical, of the types that a backend does not refuse. The test
// runs in the backend's folder.
func Examples(t testing.TB, refuses func(rr.Type) string) map[rr.Type][]string {
	t.Helper()
	file, err := os.Open("../../rr/testdata/types.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	good := map[rr.Type][]string{}
	for s := bufio.NewScanner(file); s.Scan(); {
		name, rest, _ := strings.Cut(s.Text(), " ")
		verdict, data, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if strings.HasPrefix(name, "#") || verdict != "good" {
			continue
		}
		typ, err := rr.ParseType(name)
		if err != nil {
			t.Fatal(err)
		}
		data, _, _ = strings.Cut(data, "  =>  ")
		canonical, err := rr.ParseData(typ, strings.TrimSpace(data))
		if err != nil {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		if refuses(typ) == "" {
			good[typ] = append(good[typ], canonical)
		}
	}
	return good
}
