//go:build !linux

package rfc2136

import "net"

// quickAck does nothing where acknowledgements cannot be hurried.
func quickAck(net.Conn) {}
