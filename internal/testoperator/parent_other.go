//go:build !linux

package testoperator

import "syscall"

func endWithParent() *syscall.SysProcAttr { return nil }
