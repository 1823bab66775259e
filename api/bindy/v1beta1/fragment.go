package v1beta1

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// Fragment is a part of a Pod or a Service as Kubernetes specifies it. It is
// stored as it is written, and checked where it is used.
//
// +kubebuilder:validation:Type=object
// +kubebuilder:pruning:PreserveUnknownFields
type Fragment struct {
	runtime.RawExtension `json:",inline"`
}

// Into decodes the fragment into a value of the Kubernetes API. A field that the
// value does not have is an error.
func (f *Fragment) Into(value any) error {
	if f == nil || len(f.Raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(f.Raw))
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil {
		return fmt.Errorf("reading it as %T: %w", value, err)
	}
	return nil
}
