//go:build !linux

package doctor

// remount is not implemented here.
func remount(string, error) string { return "" }
