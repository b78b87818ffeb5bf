//go:build !linux

package demo

import (
	"context"
	"io"
)

// New returns nil: the demo is made for a Linux desktop.
func New(Config) func(context.Context, io.Writer) error { return nil }
