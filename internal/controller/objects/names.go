package objects

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// PartName is the name of one of several objects that hold parts of another one. The UID keeps it apart from those of
// an object of the same name that was there before.
func PartName(of metav1.Object, part string, index int) string {
	tail := fmt.Sprintf("-%.8s-%s-%d", of.GetUID(), part, index)
	return of.GetName()[:min(len(of.GetName()), 253-len(tail))] + tail
}

// LabelValue makes any text a valid label value, and different texts different values.
func LabelValue(text string) string {
	if len(validation.IsValidLabelValue(text)) == 0 {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	digits := hex.EncodeToString(sum[:8])
	head := strings.TrimRight(text[:min(len(text), validation.LabelValueMaxLength-1-len(digits))], "-_.")
	return head + "-" + digits
}
