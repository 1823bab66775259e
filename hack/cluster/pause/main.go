// Command pause does nothing until it is told to end. A test node runs it twice: as the sandbox of every pod, whose
// namespaces it keeps, and as the node's first process, which inherits what others leave behind.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signal.Ignore(syscall.SIGCHLD) // then the kernel itself reaps what this process inherits
	end := make(chan os.Signal, 1)
	// the first process of a namespace gets only the signals that it handles
	signal.Notify(end, syscall.SIGINT, syscall.SIGTERM)
	<-end
}
