package v1beta1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// Fragment is a part of a Pod or a Service as Kubernetes specifies it. It is
// stored as it is written, and checked where it is used.
//
// +kubebuilder:validation:Type=object
// +kubebuilder:pruning:PreserveUnknownFields
type Fragment struct {
	runtime.RawExtension `json:",inline"`
}

// Into decodes the fragment into a struct of the Kubernetes API. A field that the
// struct does not have, also one in other letter case, is an error.
func (f *Fragment) Into(into any) error {
	if f == nil || len(f.Raw) == 0 {
		return nil
	}
	var fields map[string]any
	err := json.Unmarshal(f.Raw, &fields)
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, into, true)
	}
	if err != nil {
		return fmt.Errorf("reading it as %T: %w", into, err)
	}
	return nil
}
