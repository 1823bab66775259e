// Package kubizone is the kubi.zone dialect: it turns Zones and Records into what
// the core decides about (convert.go), follows them in the cluster (gather.go), has
// them delivered (reconcile.go) and writes down what came of it (status.go).
package kubizone
