// Package dnshook is the signed webhook protocol by which DNSClasses of dns.homelab.mortenolsen.pro hand records to
// whatever has them served: JSON over HTTP, each request signed with a secret that both ends share.
//
// [Key] signs requests and [Verifier] checks them, and [Record] says which records there are. [Client] is the end that
// asks, and [NewHandler] turns a [Provider] into the end that answers. A Provider is all that the author of a server
// writes. Nothing here needs Kubernetes.
package dnshook
