package mcp_test

import "aai/internal/leash"

func beGuard(args []string) int { return leash.Guard(args) }
