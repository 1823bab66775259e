// Package sources says what Services, Ingresses, Gateways and their routes, DNSEndpoints and Nodes ask for: claims of
// their namespaces, which Zones let in by the same rules as Records. It reads the annotations of external-dns.
//
// An Inventory (inventory.go) knows the objects and which of them depend on which. It makes a Wish of each: what the
// object asks for by now (wish.go, and a file for each kind). A name for which there is no address at the moment is
// lost and not deleted: what was there before stays (keep.go).
package sources
