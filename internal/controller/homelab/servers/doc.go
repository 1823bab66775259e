// Package servers calls the servers of DNSClasses. reach.go finds out where one is and what requests are signed with,
// server.go makes the calls of one class, failure.go says what their errors mean, retry.go when the next one is due,
// and difference.go how what a server shows differs from what it should have. classes.go has the classes that Backends
// name. It knows no DNSRecord: package homelab sends those through it.
package servers
