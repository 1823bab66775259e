// Package delivery has zones sent to the Backends that they belong to (delivery.go, sync.go, zonefeed.go), and reports
// the outcome (report.go, outcome.go). It says what must be stored before anything is sent, and what of a Zone is at
// which server. A dialect with Zones uses Deliveries. The controller of Backends uses Places (places.go), and whoever
// runs servers uses Servers (servers.go, fleets.go). The package decides nothing about DNS, and knows no dialect.
package delivery
