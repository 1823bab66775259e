package bindy

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// A Trouble is why something is not as the spec asks for, for people.
type Trouble struct{ Reason, Message string }

// Sentence formats a message for people; what a cause says with a full stop does not end in two.
func Sentence(format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	if strings.HasSuffix(text, "..") {
		return text[:len(text)-1]
	}
	return text
}

// mostNamed is how many names a message lists.
const mostNamed = 5

// List writes names as people do: "a, b and 3 more".
func List(names []string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
}

// Describe names an object: "Service web/ns-primary-0".
func Describe(kind string, key types.NamespacedName) string {
	if key.Namespace == "" {
		return kind + " " + key.Name
	}
	return kind + " " + key.String()
}
