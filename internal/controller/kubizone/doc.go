// Package kubizone has Zones and Records of kubi.zone, whose meaning internal/dialect/kubizone says, delivered:
// gather.go follows them in the cluster, store.go writes what has to be stored before anything is sent, and status.go
// what came of it.
package kubizone
