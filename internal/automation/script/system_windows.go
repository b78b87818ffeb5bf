package script

// root is the working directory of a child.
const root = `C:\`

// nonBlocking is zero, because FIFOs are not files on Windows.
const nonBlocking = 0

// resident returns 0: the job object limits the memory.
func resident(int) int64 { return 0 }
