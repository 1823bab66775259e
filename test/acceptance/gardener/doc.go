// Package gardener has Gardener's own code judge the operator as an extension for DNSRecords: gardenlet's half of the
// contract deploys objects and waits for them, Gardener's validation, and its own controller beside the operator, say
// what is right. It is a module of its own, because Gardener's is large, and imports nothing of ours: the operator is
// its binary. README.md says how to run it.
package gardener
