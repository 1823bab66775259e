// Package schema checks the CustomResourceDefinitions in config/crd with a real
// API server: what they accept and refuse, what becomes of objects that were
// stored under an older schema, and that the documents' examples apply as they
// stand.
package schema
