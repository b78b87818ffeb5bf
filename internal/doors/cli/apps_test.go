package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestNoProgramRuns checks that people get a sentence and programs the empty list if no program runs.
func TestNoProgramRuns(t *testing.T) {
	desktop := &aai.App{ID: aai.DesktopApp, Name: "Desktop", Tools: []*aai.Tool{{
		Name: "ax_list_apps", Effect: aai.Reads, Params: aai.Schema{Check: func(v any) (any, error) { return v, nil }},
		Run: func(context.Context, *aai.Call) (*aai.Result, error) {
			return &aai.Result{Data: map[string]any{"apps": []any{}}}, nil
		},
	}}}
	for format, want := range map[string][2]string{"text": {"", "No program with a window runs.\n"}, "json": {`{"result":{"apps":[]}}`, ""}} {
		w := newWorld()
		var out, said bytes.Buffer
		cfg := w.config(nil, &out, &said)
		cfg.Desktop = desktop
		cfg.OpenGateway = func(cli.Flags) (*gateway.Gateway, func() error, error) {
			return &gateway.Gateway{Catalog: catalog{w, []*aai.App{desktop}}, Gates: []aai.Gate{askingGate{w}}, Journal: w}, func() error { return nil }, nil
		}
		if code := cli.Run(t.Context(), cfg, []string{"apps", "--running", "--format", format}); code != 0 {
			t.Errorf("%s: exit code %d", format, code)
		}
		if strings.TrimSpace(out.String()) != want[0] || said.String() != want[1] {
			t.Errorf("%s: %q, %q", format, out.String(), said.String())
		}
	}
}
