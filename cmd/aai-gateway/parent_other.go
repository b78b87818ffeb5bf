//go:build !linux

package main

// parentExecutable is the program that started this one, as the system knows it;
// "" where that cannot be told.
func parentExecutable() string {
	return ""
}
