//go:build !linux

package audit

import "errors"

// fillFileSystem has no file system to make.
func fillFileSystem() error { return errors.New("this system has no namespaces") }
