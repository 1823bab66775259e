// Package bind9 speaks BIND 9's languages: configuration text made from values, key files, the rndc protocol, and the
// rotation of keys as a state machine. It knows no cluster; the time comes in as an argument.
//
// No text that a user wrote reaches a configuration or a command as it is: it is parsed into a value of a grammar in
// which nothing ends a statement, and the value is written. A secret appears in key files and nowhere else, in no error
// or log.
package bind9
