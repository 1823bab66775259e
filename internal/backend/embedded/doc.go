// Package embedded is an authoritative name server.
package embedded
