// Package registry reads and writes the registry of external-dns: the notes that say which external-dns owns which set.
// A note is a TXT set of the zone. Its name tells the set, in a Format that is the flags of that external-dns; its text
// tells the owner. Notes in a table of DynamoDB are shown as such sets by package dynamodb.
package registry
