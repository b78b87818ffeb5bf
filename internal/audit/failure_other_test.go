//go:build !linux

package audit

import "errors"

// fillFileSystem returns an error: there are no namespaces here.
func fillFileSystem() error { return errors.New("this system has no namespaces") }

func reserveOnFullFileSystem() error { return fillFileSystem() }
