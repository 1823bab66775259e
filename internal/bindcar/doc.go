// Package bindcar is the sidecar of a BIND server: an HTTP API that adds, changes, asks about and removes zones, and
// says when the server holds what it should hold. /api/v1 has the routes, statuses and bodies of the existing bindcar,
// so its clients go on working; the paths of the bindy document (/api/addzone and so on) are the same operations,
// idempotent. docs/bindcar.md is the manual.
//
// The server itself decides which names and which data may reach BIND (names.go, zonefile.go), who may call (auth.go,
// review.go), how often (limit.go) and when it is ready (ready.go). Its callers decide which zones there are.
package bindcar
