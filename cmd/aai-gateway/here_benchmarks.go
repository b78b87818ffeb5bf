//go:build benchmarks

package main

import (
	"os"

	"aai"
	"aai/internal/proof"
)

// here is what the program of the benchmarks stands on: its settings count as confirmed,
// and whatever HOME says as the account's home. No program for people has this file.
func here() grounds {
	return grounds{
		home:      func() string { return os.Getenv("HOME") },
		session:   func(getenv func(string) string) func(string) string { return getenv },
		confirmed: func(proof.Setting) aai.Channel { return aai.Native },
	}
}
