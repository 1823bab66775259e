// Package objects writes to the cluster, in one way for all controllers: given an object as it was read and as it is
// wanted, it makes it so, once, only while this operator leads, and only in the very version that was read. It knows
// when the cache has that.
package objects
