// Package backends turns Backend objects into Places that zones are delivered to. It follows Backends, the Secrets that
// they name and the Namespaces that their grants select (controller.go), resolves them (resolve.go), and writes down
// what came of it (status.go).
package backends
