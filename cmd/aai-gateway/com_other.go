//go:build !windows

package main

import "io"

// runCOM fails: only Windows has COM.
func runCOM(io.Reader, io.Writer) int { return 2 }
