//go:build !linux

package main

import "io"

const clipboardArgument = "keep-clipboard"

func serveClipboard(io.Reader, io.Writer) int { return 1 }
