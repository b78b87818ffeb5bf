package main

import (
	"context"
	"io"

	"aai/internal/doors/cli"
)

func (*program) demo() func(context.Context, cli.Flags, io.Writer) error { return nil }
