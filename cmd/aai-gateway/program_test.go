package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/script/child"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestMain makes this test binary also the program, as aai-gateway in the tests' PATH, and a
// service that a bus can start.
func TestMain(m *testing.M) {
	testkit.ServeIfActivated()
	if len(os.Args) == 2 && os.Args[1] == clipboardArgument {
		os.Exit(serveClipboard(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 2 && os.Args[1] == runScriptCommand {
		os.Exit(child.Run(os.Stdin, os.Stdout))
	}
	if len(os.Args) > 3 && os.Args[1] == serverGuardArgument {
		os.Exit(runServerGuard(os.Args[2:]))
	}
	program := func() { os.Exit(runWithHost(testBinaryHost())) }
	testscript.Main(m, map[string]func(){"aai-gateway": program, "axterminator": program, "open-page": openPage, "user-manager": runUserManager})
}

func jsonLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Opening and closing a gateway changes no file, because clients start gateways that they discard.
func TestOpeningLeavesNothing(t *testing.T) {
	d := newDesk(t)
	t.Setenv("HOME", d.home)
	t.Setenv("USERPROFILE", d.home)
	p := &program{getenv: d.getenv, hostAccess: d.grounds(), err: io.Discard}
	gateway, closing, err := p.open(cli.Flags{})
	assert.NilError(t, err)
	gateway.Catalog.Apps()
	assert.Check(t, closing())
	nothingIn(t, d.home)
}

// The gates have this order: without the first, agents could grant.
func TestGatewayHasEveryComponent(t *testing.T) {
	d := newDesk(t)
	c, err := d.read(cli.Flags{})
	built, err := (&program{getenv: d.getenv, hostAccess: d.grounds(), err: io.Discard}).build(mustRead(t, c, err))
	assert.NilError(t, err)
	defer func() {
		assert.Check(t, built.close())
	}()
	var gates []string
	for _, gate := range built.gateway.Gates {
		gates = append(gates, strings.TrimPrefix(fmt.Sprintf("%T", gate), "*"))
	}
	want := []string{"policy.Limits", "policy.BuiltinGate", "policy.AppLists", "risk.ProtectedWindows", "risk.ShellMarker", "policy.ModeGate", "risk.DestructiveMarker", "policy.Consent"}
	assert.Check(t, slices.Equal(gates, want), "the gates are %q", gates)
	assert.Assert(t, built.gateway.Journal != nil, "the gateway is %+v", built.gateway)
	assert.Assert(t, built.gateway.Catalog != nil, "the gateway is %+v", built.gateway)
	app, err := built.gateway.Catalog.Find(t.Context(), "aai")
	assert.NilError(t, err)
	assert.Assert(t, len(app.Tools) != 0, "the gateway does not know its own app: %v", err)
}

// Every schema of the builtin tools compiles: at the start they are only parsed.
func TestBuiltinSchemas(t *testing.T) {
	d := newDesk(t)
	c, err := d.read(cli.Flags{})
	built, err := (&program{getenv: d.getenv, hostAccess: d.grounds(), err: io.Discard}).build(mustRead(t, c, err))
	assert.NilError(t, err)
	defer func() {
		assert.Check(t, built.close())
	}()
	checked := 0
	for _, app := range built.gateway.Catalog.Apps() {
		for _, tool := range app.Tools {
			for _, s := range []aai.Schema{tool.Params, tool.Returns} {
				assert.Check(t, schema.Compile(s), "%s %s", app.ID, tool.Name)
				checked++
			}
		}
	}
	assert.Check(t, checked >= 2*20, "only %d schemas were there", checked)
}
