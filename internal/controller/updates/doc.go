// Package updates carries out dynamic updates of DNS (RFC 2136): what a message adds becomes Records of the namespace
// that its key stands for, and what it deletes are Records that updates have made there. What a message means is in
// internal/update; who may have which name is decided by the World as for every Record. What external-dns wants becomes
// Records in the same way, by other rules about what is refused (endpoints.go).
package updates
