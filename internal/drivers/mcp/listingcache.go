package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// listingCache are the files of what servers say that they have, one for each app: by them an app is
// listed without its server. Nobody has to trust them: what is in one is a stranger's word,
// and its digest is what a person consented to, or is not.
type listingCache struct{ folder string }

func (p listingCache) path(app string) string {
	return filepath.Join(p.folder, aai.WireName("app:"+app)+".json")
}

// keep writes what a server has. What is not kept is asked for again.
func (p listingCache) keep(app string, l *listing) {
	b, err := json.Marshal(l)
	if err == nil && p.folder != "" && os.MkdirAll(p.folder, 0o700) == nil {
		_ = atomicfile.ReplaceDurable(p.path(app), b)
	}
}

// read returns what is kept for an app, nil for nothing.
func (p listingCache) read(app string) *listing {
	b, err := atomicfile.Read(p.path(app), atomicfile.ReadLimits{Size: 2 * maxListing})
	l := new(listing)
	if err != nil || json.Unmarshal(b, l) != nil || len(l.Tools) > maxListed {
		return nil
	}
	l.understand()
	return l
}

// written says when the file of an app was written, zero where there is none.
func (p listingCache) written(app string) time.Time {
	if p.folder == "" {
		return time.Time{}
	}
	info, err := os.Stat(p.path(app))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
