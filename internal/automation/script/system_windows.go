package script

// root is the working directory of a child.
const root = `C:\`

// resident returns 0: the job object limits the memory.
func resident(int) int64 { return 0 }
