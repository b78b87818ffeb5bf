package script

// root is the folder in which a child is.
const root = `C:\`

// nonBlocking is not needed where FIFOs are not files.
const nonBlocking = 0

// resident is not known here: the job object limits it.
func resident(int) int64 { return 0 }
