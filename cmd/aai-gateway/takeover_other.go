//go:build !linux

package main

import (
	"context"

	"github.com/gybob/aai-gateway"
)

// Only Linux has isolated sessions.

type relay struct{}

func newRelay() relay { return relay{} }

func (relay) Tools() []*aai.Tool { return nil }

func (relay) Close() error { return nil }

func watchSession(context.Context, string, func([]byte) error) error { return nil }

func narrowsSession(*aai.Request) bool { return false }

func (*setup) pauseWhileTaken(context.Context, *aai.Request) (waited bool, err error) {
	return false, nil
}
