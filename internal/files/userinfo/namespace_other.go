//go:build unix && !linux

package userinfo

// checkInitialRoot returns nil: there are no user namespaces here.
func checkInitialRoot() error { return nil }

// CheckUserNamespace returns nil: there are no user namespaces here.
func CheckUserNamespace() error { return nil }
