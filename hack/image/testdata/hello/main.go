// Command hello stands in for a program where it does not matter what is compiled: it takes seconds for any
// architecture.
package main

func main() { println("hello", version) }

var version = "dev"
