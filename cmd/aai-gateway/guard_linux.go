package main

import "aai/internal/leash"

// serverGuard is the command of a process that holds an MCP server: of this very program.
func serverGuard() []string { return []string{"/proc/self/exe", holdsServer} }

func hold(args []string) int { return leash.Guard(args) }
