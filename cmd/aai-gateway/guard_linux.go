package main

import "github.com/gybob/aai-gateway/internal/process"

// serverGuard returns the command that supervises an MCP server: this program itself.
func serverGuard() []string { return []string{"/proc/self/exe", serverGuardArgument} }

func runServerGuard(args []string) int { return process.RunSupervisor(args) }
