// Package dnshook is the signed webhook protocol by which DNSClasses of dns.homelab.mortenolsen.pro hand records to
// whatever has them served: JSON over HTTP, each request signed with a secret that both ends share.
//
// [Key] signs requests and [Verifier] checks them, [Record] says which records there are, [Client] is the end that asks
// and [NewHandler] makes the end that answers of a [Provider], which is all that somebody who writes a server writes.
// Nothing here needs Kubernetes.
package dnshook
