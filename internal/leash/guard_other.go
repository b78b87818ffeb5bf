//go:build !linux

package leash

import (
	"os"
	"os/exec"
)

// guarded puts nothing in front of the command: only Linux lets a process have all that is
// below it.
func guarded(*exec.Cmd, Limits) (holder, its *os.File, err error) { return nil, nil, nil }
