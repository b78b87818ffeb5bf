//go:build !linux

package mcp_test

// beGuard is only for Linux.
func beGuard([]string) int { return 2 }
