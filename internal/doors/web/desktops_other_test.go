//go:build !linux

package web_test

import (
	"testing"

	"github.com/gybob/aai-gateway"
)

// desktopTools returns nil: only Linux has isolated sessions.
func desktopTools(*testing.T) []*aai.Tool { return nil }
