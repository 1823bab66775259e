// Package delivery has zones sent to the Backends that they belong to: delivery.go, sync.go and zonefeed.go; what came
// of it: report.go and outcome.go. It says what must be stored before anything is sent, and what of a Zone is at which
// server. Whose Zones these are has Deliveries, who has Backends Places (places.go), who runs servers Servers
// (servers.go, fleets.go). It decides nothing about DNS, and knows no dialect.
package delivery
