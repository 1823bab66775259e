// Package gardener is the dialect extensions.gardener.cloud: DNSRecords, by which Gardener asks an extension to put one
// record set into a hosted zone of an account at a DNS service, whatever is there. Its states are Gardener's and not
// those of conditions.
//
// internal/dialect/gardener says what a spec means, predicate.go which events matter, operation.go what is done, and
// codes.go what errors are called; these know no cluster. gather.go follows objects, work.go takes one operation
// through its steps, retry.go has it tried again, open.go opens accounts and account.go asks them for their zones,
// hostedzone.go hands sets to the engine, and status.go and write.go say what came of it.
package gardener
