package rfc2136

import (
	"net"
	"syscall"
)

// quickAck has the kernel acknowledge what arrives next without delay. Name servers leave Nagle's algorithm on: the
// second of several short answers waits for the acknowledgement of the first, which the kernel otherwise holds back for
// 40 ms. The setting does not last, so it is made before every answer; where it fails answers are late, and that is
// all.
func quickAck(c net.Conn) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
	})
}
