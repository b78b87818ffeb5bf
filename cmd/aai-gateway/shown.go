package main

import (
	"context"
	"os"
	"path/filepath"

	"aai/internal/policy"
	"aai/internal/wholefile"
)

// shownBefore keeps which apps agents were shown, in a file that may go at any time. What a
// mode hides is not shown for having been shown before.
type shownBefore struct {
	path  string
	modes *policy.Modes
}

// Recall implements mcp.Memory.
func (s *shownBefore) Recall() []byte {
	if s.modes.Mode() != policy.Normal {
		return nil
	}
	content, err := wholefile.Read(s.path, wholefile.Limits{Size: 64 << 10})
	if err != nil {
		return nil
	}
	return content
}

// Keep implements mcp.Memory: it is the next start that is slower where it fails.
func (s *shownBefore) Keep(content []byte) {
	switch {
	case s.modes.Mode() != policy.Normal:
	case content == nil:
		_ = os.Remove(s.path)
	case os.MkdirAll(filepath.Dir(s.path), 0o700) == nil:
		_ = wholefile.Keep(s.path, content)
	}
}

// follow looks at the apps and follows what becomes of them, when the door has rested, until
// ctx ends; the channel it returns is closed then.
func (p *parts) follow(ctx context.Context, rested <-chan struct{}) (stopped <-chan struct{}) {
	done, collect := make(chan struct{}), holdCollector()
	go func() {
		defer close(done)
		select {
		case <-rested:
		case <-ctx.Done():
			return
		}
		stopped := p.catalog.Start(ctx)
		p.catalog.Apps() // returns when the first scan is done
		collect()
		<-stopped
	}()
	return done
}
