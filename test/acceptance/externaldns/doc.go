// Package externaldns has external-dns' own code judge internal/backend/extdns: its HTTP server for webhook providers,
// before its in-memory provider, which refuses a batch that creates what is there, or changes or deletes what is not
// there as it is told. Its provider of dynamic updates judges the operator's own name server.
// Its TXT registry judges internal/registry, and shares a zone of a real BIND with zonefold's engine.
// Its sources judge internal/dialect/sources.
package externaldns
