package cli

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/cli/ask"
	"github.com/zonefold/zonefold/internal/cli/change"
	"github.com/zonefold/zonefold/internal/cli/check"
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/move"
	"github.com/zonefold/zonefold/internal/version"
)

// TestShapesAreDocumented compares what docs/outputs.md says that -o json prints with the values that are printed. Each
// shape is a line in a block of its own below the name of its command.
func TestShapesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/outputs.md")
	if err != nil {
		t.Fatal(err)
	}
	for heading, value := range map[string]any{
		"explain": explained.Explanation{}, "plan": change.Planned{}, "diff": change.Compared{}, "tree": ask.ZoneTree{},
		"doctor": check.Diagnoses{}, "history and blame": ask.Past{}, "render": move.JsonDocument{},
		"export": move.JsonExport{}, "freeze, thaw and rollback": change.Done{}, "approve": change.Approved{},
		"adopt and disown": change.HandedOver{}, "release": change.Released{}, "import": move.Imported{},
		"check": check.Checked{}, "version": version.Info{},
	} {
		_, rest, found := strings.Cut(string(page), "\n## "+heading+"\n")
		_, rest, _ = strings.Cut(rest, "```\n")
		block, _, _ := strings.Cut(rest, "```")
		want := jsonShape(reflect.TypeOf(value), nil)
		if got := strings.Join(strings.Fields(block), " "); !found || got != want {
			t.Errorf("docs/outputs.md says of %s\n%s\nand it is\n%s", heading, got, want)
		}
	}
}

// jsonShape writes the fields of a type as JSON has them. One that contains itself ends in three dots.
func jsonShape(t reflect.Type, within []reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]() || t.Implements(reflect.TypeFor[json.Marshaler]()):
		return ""
	case t.Kind() == reflect.Pointer:
		return jsonShape(t.Elem(), within)
	case t.Kind() == reflect.Slice:
		if of := jsonShape(t.Elem(), within); of != "" {
			return "[" + of + "]"
		}
		return "[]"
	case t.Kind() != reflect.Struct:
		return ""
	case slices.Contains(within, t):
		return "…"
	}
	return "{" + strings.Join(jsonFields(t, append(within, t)), ", ") + "}"
}

func jsonFields(t reflect.Type, within []reflect.Type) (out []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch shape := jsonShape(f.Type, within); {
		case name == "-", !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			out = append(out, jsonFields(f.Type, within)...)
		case shape == "":
			out = append(out, name)
		default:
			out = append(out, name+": "+shape)
		}
	}
	return out
}
