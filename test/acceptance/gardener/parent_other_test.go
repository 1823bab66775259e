//go:build !linux

package gardener

import "syscall"

func endWithParent() *syscall.SysProcAttr { return nil }
