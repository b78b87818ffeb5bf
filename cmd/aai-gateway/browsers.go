package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/cdp"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// browsers returns the browsers of the person that agents may use. The tree of a browser names their pages.
func (s *setup) browsers(log *slog.Logger) *cdp.Browsers {
	seals := listSeals{s.policyVault}
	b := cdp.New(cdp.Config{
		Find:      func() []cdp.Endpoint { return cdp.Find(s.session.Getenv) },
		AllowFile: filepath.Join(s.platform.data, "browsers.json"), Seal: seals.seal, Open: seals.open, Timeout: s.DefaultTimeout, Log: log,
	})
	s.pagesOf = b.PagesOf
	return b
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
