// Package externaldns is a server of external-dns' webhook protocol: external-dns keeps its sources and its registry,
// and what it wants becomes Records of the namespace that its token stands for. What becomes of them is in package
// updates.
package externaldns
