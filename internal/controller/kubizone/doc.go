// Package kubizone delivers the Zones and Records of kubi.zone; internal/dialect/kubizone says what they mean.
// gather.go follows them in the cluster. store.go writes what has to be stored before anything is sent, and status.go
// what came of it.
package kubizone
