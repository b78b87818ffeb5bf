//go:build !linux

package demo

import (
	"context"
	"io"
)

// NewDemo returns nil: the demo needs a Linux desktop.
func NewDemo(Config) func(context.Context, io.Writer) error { return nil }
