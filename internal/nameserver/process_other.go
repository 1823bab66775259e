//go:build !linux

package nameserver

import "syscall"

// diesWithParent does nothing where the kernel has no parent-death signal; Stop and Close end the child.
func diesWithParent() *syscall.SysProcAttr { return nil }
