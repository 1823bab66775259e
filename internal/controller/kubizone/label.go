package kubizone

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/zonefold/zonefold/internal/zone"
)

// ParentLabel returns the value of the label kubi.zone/parent-zone for a Zone:
// "<name>.<namespace>", or, where that is no valid label value, its beginning and 16
// hexadecimal digits of its SHA-256.
func ParentLabel(parent zone.ID) string { return labelValue(parent.Name + "." + parent.Namespace) }

// labelValue makes any text a valid label value, and different texts different values.
func labelValue(text string) string {
	if len(validation.IsValidLabelValue(text)) == 0 {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	digits := hex.EncodeToString(sum[:8])
	head := strings.TrimRight(text[:min(len(text), validation.LabelValueMaxLength-1-len(digits))], "-_.")
	return head + "-" + digits
}
