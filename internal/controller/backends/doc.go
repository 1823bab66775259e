// Package backends turns Backend objects into Places that zones are delivered to: it
// follows Backends, the Secrets that they name and the Namespaces that their grants
// select (gather.go), resolves them (resolve.go), and writes down what came of it
// (status.go).
package backends
