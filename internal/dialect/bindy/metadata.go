package bindy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// maxAnnotations is how many octets the annotations of an object may have in the API server, names and values together.
const maxAnnotations = 256 << 10

// checkLabels refuses labels that the API server would: nothing that is to have them could be made.
func checkLabels(field string, labels map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(labels[key])...)
		if len(problems) > 0 {
			return fmt.Errorf(
				"%s has %.80q with the value %.80q, which is not a valid label: %s", field, key, labels[key], problems[0])
		}
	}
	return nil
}

// checkAnnotations is checkLabels of annotations.
func checkAnnotations(field string, annotations map[string]string) error {
	size := 0
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
			return fmt.Errorf("%s has %.80q, which is not a valid name of an annotation: %s", field, key, problems[0])
		}
		size += len(key) + len(annotations[key])
	}
	if size > maxAnnotations {
		return fmt.Errorf("%s has %d octets, more than %d", field, size, maxAnnotations)
	}
	return nil
}

// checkMetadata refuses what a spec wants on the Secret of a server's key.
func (s *Server) checkMetadata() error {
	source, err := s.KeySource()
	if err != nil {
		return nil //nolint:nilerr // that is said of the key, and the keys in use stay
	}
	labels, annotations := source.ExtraMetadata()
	if err = checkLabels("secret.metadata.labels", labels); err == nil {
		err = checkAnnotations("secret.metadata.annotations", annotations)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", source.Field, err)
	}
	return nil
}
