package main

import "github.com/gybob/aai-gateway/internal/process"

// serverGuard is the command of a process that holds an MCP server: of this very program.
func serverGuard() []string { return []string{"/proc/self/exe", serverGuardArgument} }

func runServerGuard(args []string) int { return process.RunSupervisor(args) }
