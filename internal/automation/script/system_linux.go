package script

import (
	"bytes"
	"os"
	"strconv"
)

// root is the working directory of a child.
const root = "/"

// resident returns the resident memory of a process, in bytes.
func resident(pid int) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	fields := bytes.Fields(b)
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}
