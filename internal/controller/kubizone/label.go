package kubizone

import (
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/zone"
)

// ParentLabel returns the value of the label kubi.zone/parent-zone for a Zone:
// "<name>.<namespace>", or, where that is no valid label value, its beginning and 16
// hexadecimal digits of its SHA-256.
func ParentLabel(parent zone.ID) string {
	return objects.LabelValue(parent.Name + "." + parent.Namespace)
}
