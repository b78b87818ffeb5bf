package main

import (
	"os"
	"strconv"
)

// parentExecutable is the program that started this one, as the system knows it;
// "" where that cannot be told.
func parentExecutable() string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(os.Getppid()) + "/exe")
	if err != nil {
		return ""
	}
	return path
}
