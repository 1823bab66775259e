package main

import (
	"strings"
	"testing"
)

func TestTheSidecarOfTheExistingBindyIsNotOurs(t *testing.T) {
	_, err := parse([]string{"--bindcar-image=ghcr.io/firestoned/bindcar:v0.7.2"}, func(string) string { return "" })
	if err == nil || !strings.HasPrefix(err.Error(),
		"--bindcar-image: the image ghcr.io/firestoned/bindcar:v0.7.2 is the sidecar of the existing Bindy") {
		t.Errorf("of the sidecar of the existing Bindy is said %v", err)
	}
}
