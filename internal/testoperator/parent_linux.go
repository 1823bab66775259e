package testoperator

import "syscall"

// endWithParent has the kernel end the operator when the test process dies.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
