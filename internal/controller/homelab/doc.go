// Package homelab is the dialect dns.homelab.mortenolsen.pro: DNSClasses, each a server of the webhook protocol of
// package dnshook, and DNSRecords, which it is to have. internal/dialect/homelab makes heaps and claims of them,
// gather.go follows them, plan.go decides what a server is told next about one slot (a type at a name of a class),
// classqueue.go has the queue of slots of a class, work.go and deliver.go tell the server, audit.go asks it what it
// has, and status.go says what came of it. Package servers, which it asks, makes the calls.
package homelab
