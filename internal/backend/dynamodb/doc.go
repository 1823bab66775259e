// Package dynamodb has the registry that external-dns keeps in a table of Amazon DynamoDB stand beside the zones of any
// Backend. An item of the table says who owns a set. Reading a zone shows the items about it as notes among its sets
// (registry.InTable), and what changes notes changes items: package registry and the engine know no table.
package dynamodb
