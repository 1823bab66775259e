// Package homelab says what objects of dns.homelab.mortenolsen.pro mean: a DNSClass becomes a heap of the core, a
// DNSRecord a claim that is pinned to it, and a record on the wire of package dnshook.
package homelab
