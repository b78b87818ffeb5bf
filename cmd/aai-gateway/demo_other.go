//go:build !linux

package main

import (
	"context"
	"io"

	"aai/internal/doors/cli"
)

// demo is made for a Linux desktop.
func (*program) demo() func(context.Context, cli.Flags, io.Writer) error { return nil }
