package mcp_test

import "github.com/gybob/aai-gateway/internal/process"

func beGuard(args []string) int { return process.RunSupervisor(args) }
