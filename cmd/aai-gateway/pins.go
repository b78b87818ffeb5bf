package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/doors/mcp"
)

// pinStore holds the pinned tools of the configuration. It reads them anew when the file changes.
type pinStore struct {
	editor *config.Editor
	file   string
	apps   func() []*aai.App

	mu      sync.Mutex
	pins    []string
	size    int64
	written time.Time
	settled bool
}

// pins returns the pinned tools of the person.
func (s *setup) pins(built *components) *pinStore {
	return &pinStore{editor: s.settings(), file: s.File(), apps: func() []*aai.App { return built.visibleApps.Apps() }}
}

// current returns the pinned tools.
func (p *pinStore) current() []string {
	var size int64
	var written time.Time
	if info, err := os.Stat(p.file); err == nil {
		size, written = info.Size(), info.ModTime()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.settled || size != p.size || !written.Equal(p.written) {
		p.size, p.written = size, written
		p.pins, p.settled = p.editor.PinnedNow()
	}
	return p.pins
}

// watchInterval is the interval between looks at the file.
const watchInterval = time.Second

// watch calls f after each change of the pinned tools, until ctx ends.
func (p *pinStore) watch(ctx context.Context, f func()) {
	ticks := time.NewTicker(watchInterval)
	defer ticks.Stop()
	for was := p.current(); ; {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		if now := p.current(); !slices.Equal(now, was) {
			was = now
			f()
		}
	}
}

// Pin implements builtin.PinStore.
func (p *pinStore) Pin(ctx context.Context, call *aai.Call, app, tool string, undo bool) error {
	_, err := p.editor.Pin(ctx, call, mcp.PinID(app, tool), undo)
	return err
}

// Pins implements builtin.PinStore.
func (p *pinStore) Pins() []answer.Pin {
	apps, pins := p.apps(), p.current()
	listed := mcp.PinnedTools(apps, pins)
	rows := make([]answer.Pin, 0, len(pins))
	for _, pin := range pins {
		i := slices.IndexFunc(listed, func(t mcp.PinnedTool) bool { return mcp.PinID(t.App.ID, t.Tool.Name) == pin })
		if i < 0 {
			at := max(strings.LastIndex(pin, ":"), 0)
			rows = append(rows, answer.Pin{App: pin[:at], Tool: strings.TrimPrefix(pin[at:], ":"), Fault: "there is no such tool that can be called"})
			continue
		}
		t := listed[i]
		rows = append(rows, answer.Pin{App: t.App.ID, Tool: t.Tool.Name, Name: t.Name, Tokens: t.Tokens})
	}
	return rows
}
