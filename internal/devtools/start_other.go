//go:build !linux

package devtools

import (
	"context"

	"github.com/gybob/aai-gateway"
)

// FindChromium fails: browsers are not started on this system.
func FindChromium() (string, error) {
	return "", aai.Errorf(aai.AutomationNotSupported, "browsers are started on Linux only")
}

func isInUse(string) bool { return true }

func (b *Browsers) startWithPipe(context.Context, string, []string, string, []string) (*Browser, error) {
	_, err := FindChromium()
	return nil, err
}

func (b *Browsers) startWithPort(ctx context.Context, program string, environ []string, profile string, args []string) (*Browser, error) {
	return b.startWithPipe(ctx, program, environ, profile, args)
}
