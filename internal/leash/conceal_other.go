//go:build !linux

package leash

// Conceal is for Linux, where any process of the person can read the environment of another.
func Conceal(func(name string) bool) error { return nil }
