//go:build unix && !linux

package main

// trueRoot knows of no other root here than the computer's.
func trueRoot() error { return nil }
