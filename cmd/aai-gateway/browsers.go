package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/devtools"
	"github.com/gybob/aai-gateway/internal/drivers/cdp"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// openPages returns the pages of the browsers that agents may use. The tree of a browser names their pages.
func (s *setup) openPages(log *slog.Logger) *cdp.Pages {
	seals := listSeals{s.policyVault}
	s.browsers = devtools.New(devtools.Config{
		Find:      func() []devtools.Endpoint { return devtools.Find(s.session.Getenv) },
		AllowFile: filepath.Join(s.platform.data, "browsers.json"), Seal: seals.seal, Open: seals.open, Log: log,
		Start: devtools.StartConfig{
			Profiles: filepath.Join(s.platform.data, "browsers"), Find: devtools.FindChromium, OutlivesGateway: s.exitsAfterCall,
			Environ: func() []string { return withoutSecrets(s.session.Environ(os.Environ())) },
		},
	})
	pages := cdp.New(s.browsers, s.DefaultTimeout)
	s.pagesOf = pages.PagesOf
	return pages
}

// listSeals seals the list of allowed browsers in the vault of the person's decisions. Where no place can keep its key,
// the list is plain, as the decisions are.
type listSeals struct{ vault func() *secrets.Vault }

// browserListID is the ID of the list.
const browserListID = "browsers that agents may use"

func (l listSeals) seal(ctx context.Context, content []byte) ([]byte, error) {
	box, err := l.vault().Seal(ctx, browserListID, content)
	if errors.Is(err, errors.ErrUnsupported) {
		return content, nil
	}
	return box, err
}

func (l listSeals) open(ctx context.Context, content []byte) ([]byte, error) {
	if err := l.vault().CheckSealing(ctx); errors.Is(err, errors.ErrUnsupported) {
		return content, nil
	}
	return l.vault().Open(ctx, browserListID, content)
}

// narrowsBrowsers adds to a check of narrowing requests those that take a browser away from agents.
func narrowsBrowsers(others func(*aai.Request) bool) func(*aai.Request) bool {
	return func(r *aai.Request) bool { return r.Tool.Name == cdp.ToolDisconnect || others(r) }
}
