package nameserver

import "syscall"

// diesWithParent makes the kernel kill the child when this process ends, however it ends.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
