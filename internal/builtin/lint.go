package builtin

import (
	"context"
	"net/url"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/lint"
	"github.com/gybob/aai-gateway/internal/netguard"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// lintTool checks a descriptor that a person names, before it is used.
type lintTool struct {
	// fetch downloads a web page; may be nil.
	fetch func(ctx context.Context, address string) ([]byte, error)
}

func (l lintTool) lint(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	source, o, err := l.read(ctx, text(call, "source"))
	if err != nil {
		return nil, err
	}
	if text(call, "against") == "" {
		return &aai.Result{Data: lint.Check(source, o)}, nil
	}
	earlier, _, err := l.read(ctx, text(call, "against"))
	if err != nil {
		return nil, err
	}
	return &aai.Result{Data: lint.CheckAgainst(source, earlier, o)}, nil
}

// read reads the descriptor at a path or a URL.
func (l lintTool) read(ctx context.Context, source string) ([]byte, catalog.Options, error) {
	o := catalog.Options{Source: source}
	if !strings.Contains(source, "://") {
		read, err := catalog.ReadFile(source)
		if err != nil {
			e := *aai.AsError(err)
			e.Delivery = aai.NotDelivered
			e.Message = aai.CleanLabel(source, 500) + " " + e.Message
			return nil, o, &e
		}
		return read, o, nil
	}
	u, err := url.Parse(source)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, o, aai.Errorf(aai.InvalidParams, "%s is no web address; expected one such as https://example.com", sanitize.Quote(source, 200))
	}
	if l.fetch == nil {
		e := aai.Errorf(aai.AutomationNotSupported, "this gateway cannot fetch %s", sanitize.Quote(source, 200))
		e.Hint = "Save the descriptor in a file, and name that."
		return nil, o, e
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/.well-known/aai.json"
	}
	o.Origin = netguard.Origin(u)
	read, err := l.fetch(ctx, u.String())
	if err != nil {
		return nil, o, err
	}
	return read, o, nil
}
