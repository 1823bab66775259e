// Package bindy says what objects of bindy.firestoned.io mean. DNSZones and records become zones and claims of the
// core; which zone has a record, and which instances have a zone, is found in homes.go and fleetof.go. A Bind9Instance,
// with what it has from its cluster, becomes a [Plan]: the Deployment, Services, configuration and claim that it is to
// have, or what is wrong with its spec.
package bindy
