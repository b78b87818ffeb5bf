package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// listingCache is the folder of the cached listings, one file per app, so that listing an app needs
// no server. The files need no trust: their content is untrusted anyway, and consent is bound to its
// digest.
type listingCache struct{ folder string }

func (p listingCache) path(app string) string {
	return filepath.Join(p.folder, aai.WireName("app:"+app)+".json")
}

// keep writes a listing. An unwritten listing is fetched again.
func (p listingCache) keep(app string, l *listing) {
	b, err := json.Marshal(l)
	if err == nil && p.folder != "" && os.MkdirAll(p.folder, 0o700) == nil {
		_ = atomicfile.ReplaceDurable(p.path(app), b)
	}
}

// read returns the cached listing of an app, or nil.
func (p listingCache) read(app string) *listing {
	b, err := atomicfile.Read(p.path(app), atomicfile.ReadLimits{Size: 2 * maxListing})
	l := new(listing)
	if err != nil || json.Unmarshal(b, l) != nil || len(l.Tools) > maxListed {
		return nil
	}
	l.understand()
	return l
}

// written returns the modification time of an app's file, or zero if there is none.
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
