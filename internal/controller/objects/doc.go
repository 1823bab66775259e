// Package objects writes to the cluster, in one way for all controllers: what differs between an object as it was read
// and as it is wanted, only while this operator leads, and only to the very object that was read.
package objects
