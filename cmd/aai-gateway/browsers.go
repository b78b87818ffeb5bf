package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/devtools"
	"github.com/gybob/aai-gateway/internal/drivers/cdp"
	"github.com/gybob/aai-gateway/internal/gui/recording"
	"github.com/gybob/aai-gateway/internal/secrets"
	"github.com/gybob/aai-gateway/internal/secrets/named"
)

// openPages returns the pages of the browsers that agents may use. The tree of a browser names their pages.
func (s *setup) openPages(log *slog.Logger) *cdp.Pages {
	seals := listSeals{s.policyVault, "browsers that agents may use", true}
	s.browsers = devtools.New(devtools.Config{
		Find:      func() []devtools.Endpoint { return devtools.Find(s.session.Getenv) },
		AllowFile: filepath.Join(s.platform.data, "browsers.json"), Seal: seals.seal, Open: seals.open, Log: log,
		Start: devtools.StartConfig{
			Profiles: filepath.Join(s.platform.data, "browsers"), Find: devtools.FindChromium, OutlivesGateway: s.exitsAfterCall,
			Environ: func() []string { return withoutSecrets(s.appEnviron()) },
		},
	})
	pages := cdp.New(s.browsers, s.DefaultTimeout)
	s.pagesOf = pages.PagesOf
	return pages
}

// listSeals seals a list of the person in the vault of the person's decisions.
type listSeals struct {
	vault func() *secrets.Vault
	id    string
	plain bool // where no place can keep the key, the list is plain, as the decisions are
}

func (l listSeals) seal(ctx context.Context, content []byte) ([]byte, error) {
	box, err := l.vault().Seal(ctx, l.id, content)
	if l.plain && errors.Is(err, errors.ErrUnsupported) {
		return content, nil
	}
	return box, err
}

func (l listSeals) open(ctx context.Context, content []byte) ([]byte, error) {
	if err := l.vault().CheckSealing(ctx); l.plain && errors.Is(err, errors.ErrUnsupported) {
		return content, nil
	}
	return l.vault().Open(ctx, l.id, content)
}

// narrows adds to a check of narrowing requests those that take a browser or a secret
// away from agents, or only concern recordings and names in workflows.
func narrows(others func(*aai.Request) bool) func(*aai.Request) bool {
	return func(r *aai.Request) bool {
		return slices.Contains([]string{cdp.ToolDisconnect, named.ToolRemove, workflow.RenameTool, recording.DeleteTool}, r.Tool.Name) || narrowsSession(r) || others(r)
	}
}
