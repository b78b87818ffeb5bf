//go:build !linux

package process

// HideEnvironment does nothing: only on Linux can other processes of the account read the
// environment.
func HideEnvironment(func(name string) bool) error { return nil }
