// Package console shows people what zonefold knows, as pages of a web server on their own machine: the zones with
// their owners, the records of a zone, why a name is as it is, who may have what, the servers, how these differ from
// what is wanted, and what was published before.
//
// A [Source] gives it values; pages are functions of these values and of what was asked for, filled into templates.
// What a page may do is decided here too, in guard.go: who may see it, which pages of others may not, and which forms
// are taken. The package knows neither the cluster nor files: whoever makes the Source decides whose rights it has.
package console
