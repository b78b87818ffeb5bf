//go:build !(linux && amd64)

package audit

import "errors"

// recordBetweenMarks is for whoever counts calls to the system, which is done where
// they have the numbers that the test knows.
func recordBetweenMarks(string) error { return errors.New("nobody counts here") }
