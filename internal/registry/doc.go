// Package registry reads and writes the TXT registry of external-dns: the notes in a zone that say which external-dns
// owns which set. A note is a TXT set. Its name tells the set, in a Format that is the flags of that external-dns; its
// text tells the owner.
package registry
