// Package process runs external-dns' own program, which ../program pins, as a client of the operator: of its server of
// the webhook protocol, and of dynamic updates. Its objects are on a real API server, and a resolver sees what comes of
// them.
package process
