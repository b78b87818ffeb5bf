package script

import "os"

// killed is not known here.
func killed(*os.ProcessState) bool { return false }
