package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/policy"
)

// fileListCache stores the apps last listed to agents, in a file that may be deleted. In a
// restricted mode it is not used, so that hidden apps do not appear.
type fileListCache struct {
	path  string
	modes *policy.ModeGate
}

// Load implements mcp.ListCache.
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

// Save implements mcp.ListCache. If it fails, the next start is slower.
func (s *fileListCache) Save(content []byte) {
	switch {
	case s.modes.Current() != policy.Normal:
	case content == nil:
		_ = os.Remove(s.path)
	case os.MkdirAll(filepath.Dir(s.path), 0o700) == nil:
		_ = atomicfile.ReplaceDurable(s.path, content)
	}
}

// watchApps scans the apps after rested is closed, and follows their changes until ctx ends. Then
// the returned channel is closed.
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
		p.catalog.Apps() // returns after the first scan
		collect()
		<-stopped
	}()
	return done
}
