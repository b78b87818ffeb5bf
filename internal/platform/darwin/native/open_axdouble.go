//go:build axdouble && !darwin

package native

import "os"

// DoubleEnv is the variable with the path of the double's library.
const DoubleEnv = "AAI_AXDOUBLE"

func libraries() ([]uintptr, error) { return open(os.Getenv(DoubleEnv)) }
