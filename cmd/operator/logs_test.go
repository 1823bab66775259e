package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/klog/v2"
)

// TestEverythingThatIsSaidIsALineOfJSON has libraries say something, and the operator end because of an error.
func TestEverythingThatIsSaidIsALineOfJSON(t *testing.T) {
	t.Cleanup(klog.ClearLogger)
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "soon") // the exporter reads the variables of the process
	var said bytes.Buffer
	err := run(t.Context(), []string{"--kubeconfig", t.TempDir() + "/none"}, func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}[name]
	}, &said)
	if err == nil {
		t.Error("without a cluster it ends without an error")
	}
	klog.Info("a library is there")
	klog.Flush()
	for _, part := range []string{"a library is there", "parse duration", "The operator ends", "finding the cluster"} {
		if !strings.Contains(said.String(), part) {
			t.Errorf("nothing says %q:\n%s", part, said.String())
		}
	}
	for line := range strings.Lines(said.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("it says %q", line)
		}
	}
}

func TestWrongFlagsAreToldInPlainText(t *testing.T) {
	var said bytes.Buffer
	err := run(t.Context(), []string{"--history=-1"}, func(string) string { return "" }, &said)
	if err == nil || !strings.Contains(err.Error(), "--history") || said.Len() > 0 {
		t.Errorf("the error is %v, and it says %q", err, said.String())
	}
}
