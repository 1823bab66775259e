package gardener

import "syscall"

// endWithParent has the kernel end a process with the one that started it.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
