package backend

// Signatures are what a server that signs a zone by itself shows of that.
type Signatures struct {
	Keys bool // it has keys, so that there are signatures
	// Whole says that all of it is signed, with the denial of existence at the zone's own name.
	Whole     bool
	KeyTag    uint16   // of the key-signing key; of several, which are there while one takes over from another, the lowest
	Algorithm string   // of that key
	DS        []string // what the parent is to have, by the zone's CDS set (RFC 7344)
}
