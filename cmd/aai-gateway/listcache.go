package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/policy"
)

// fileListCache keeps which apps agents were shown, in a file that may go at any time. What a
// mode hides is not shown for having been shown before.
type fileListCache struct {
	path  string
	modes *policy.ModeGate
}

// Load implements mcp.Memory.
func (s *fileListCache) Load() []byte {
	if s.modes.Current() != policy.Normal {
		return nil
	}
	content, err := atomicfile.Read(s.path, atomicfile.ReadLimits{Size: 64 << 10})
	if err != nil {
		return nil
	}
	return content
}

// Save implements mcp.Memory: it is the next start that is slower where it fails.
func (s *fileListCache) Save(content []byte) {
	switch {
	case s.modes.Current() != policy.Normal:
	case content == nil:
		_ = os.Remove(s.path)
	case os.MkdirAll(filepath.Dir(s.path), 0o700) == nil:
		_ = atomicfile.ReplaceDurable(s.path, content)
	}
}

// watchApps looks at the apps and follows what becomes of them, when the door has rested, until
// ctx ends; the channel it returns is closed then.
func (p *components) watchApps(ctx context.Context, rested <-chan struct{}) (stopped <-chan struct{}) {
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
