// Package gardener says what a DNSRecord of extensions.gardener.cloud means: a set, in which hosted zone, with which
// credentials and settings. What Gardener itself refuses is refused here in the same cases.
package gardener
