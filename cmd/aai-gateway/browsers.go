package main

import (
	"log/slog"
	"path/filepath"

	"github.com/gybob/aai-gateway/internal/drivers/cdp"
)

// browsers returns the browsers of the person that agents may use. The tree of a browser names their pages.
func (s *setup) browsers(log *slog.Logger) *cdp.Browsers {
	b := cdp.New(cdp.Config{
		Find:      func() []cdp.Endpoint { return cdp.Find(s.session.Getenv) },
		AllowFile: filepath.Join(s.platform.data, "browsers.json"), Timeout: s.DefaultTimeout, Log: log,
	})
	s.pagesOf = b.PagesOf
	return b
}
