//go:build !linux

package main

// macPlatform returns this system's platform: the doubles of a Mac's system programs are only on Linux.
func macPlatform(string) func(string, func(string) string) platform { return hostPlatform }
