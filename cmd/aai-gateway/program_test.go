package main

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/script/child"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
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
	if len(os.Args) == 2 && os.Args[1] == runCOMCommand {
		os.Exit(runCOM(os.Stdin, os.Stdout))
	}
	if len(os.Args) > 3 && os.Args[1] == serverGuardArgument {
		os.Exit(runServerGuard(os.Args[2:]))
	}
	if len(os.Args) > 4 && os.Args[1] == sessionGuardArgument {
		os.Exit(runSessionGuard(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) == 3 && os.Args[1] == holdViewsArgument {
		os.Exit(holdViews(os.Args[2]))
	}
	program := func() { os.Exit(runWithHost(testBinaryHost())) }
	testscript.Main(m, map[string]func(){"aai-gateway": program, "axterminator": program, "open-page": openPage, "user-manager": runUserManager, "odr": runServerRegistry})
}

// runServerRegistry lists an MCP server, as odr.exe of Windows does.
func runServerRegistry() {
	_, _ = os.Stdout.WriteString(`{"structuredContent":{"servers":[{"server":{"name":"notes of others","packages":[{"identifier":"pkg_1"}]}}]}}`)
}

func jsonLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Opening and closing a gateway changes no file, because clients start gateways that they discard.
func TestOpeningLeavesNothing(t *testing.T) {
	d := newDesk(t)
	gateway, closing := d.open(t, "", io.Discard)
	gateway.Catalog.Apps()
	assert.Check(t, closing())
	nothingIn(t, d.home)
}

// The gates have this order: without the first, agents could grant.
func TestFirstStartNotice(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	assert.Check(t, is.Contains(firstStartNotice(data, "It never ran here."), "It never ran here."))
	assert.Check(t, is.Equal(firstStartNotice(data, ""), ""))
	assert.NilError(t, os.Mkdir(data, 0o700))
	assert.Check(t, is.Equal(firstStartNotice(data, "It never ran here."), ""))
}

func TestGatewayHasEveryComponent(t *testing.T) {
	built := newDesk(t).build(t, "{}")
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
	built := newDesk(t).build(t, "{}")
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

// The program reports its build version; after "go build" or "go install", the module version.
func TestVersion(t *testing.T) {
	module := func(v string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: v}} }
	for _, c := range []struct {
		set   string
		built *debug.BuildInfo
		want  string
	}{
		{"v1.2.3", module("v1.2.2"), "v1.2.3"},
		{"devel", module("v1.2.2"), "v1.2.2"},
		{"devel", module("v0.0.0-20260101000000-0123456789ab+dirty"), "v0.0.0-20260101000000-0123456789ab+dirty"},
		{"devel", module("(devel)"), "devel"},
		{"devel", module(""), "devel"},
		{"devel", nil, "devel"},
	} {
		got := versionOf(c.set, c.built)
		assert.Check(t, is.Equal(got, c.want), "built as %q of %+v: %s, want %s", c.set, c.built, got, c.want)
	}
}

// Environment changes by a library do not count as the session of the start.
func TestTheEnvironmentIsThatOfTheStart(t *testing.T) {
	const bus = "DBUS_SESSION_BUS_ADDRESS"
	t.Setenv(bus, "unix:path=/started/with")
	p := newProgram(hostAccess{})
	assert.NilError(t, os.Setenv(bus, "unix:path=/found/later"))
	if is := p.getenv(bus); is != "unix:path=/started/with" {
		t.Errorf("it goes by %q", is)
	}
}

// The program's file name selects the profile.
func TestProfileOfTheName(t *testing.T) {
	for name, want := range map[string]string{
		"aai-gateway": "", "/usr/bin/aai-gateway": "", "axterminator": "desktop", "/usr/local/bin/axterminator": "desktop",
		"AXTerminator.exe": "desktop", "axterminator-old": "", "": "",
	} {
		assert.Check(t, is.Equal(profileOf(name), want), "%q", name)
	}
}

// desk is a home folder and an environment of a test.
type desk struct {
	home string
	env  map[string]string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{home: t.TempDir(), env: map[string]string{session.PrivateMark: "1"}}
}

// If the environment sets the home, a key in the environment does not count; the error says that,
// and not that the key is missing.
func TestAKeyOfTheEnvironmentElsewhere(t *testing.T) {
	d := newDesk(t)
	d.env["AAI_MASTER_KEY_FILE"] = d.file(t, "key", strings.Repeat("ab", 32))
	for home, want := range map[string]string{d.home: "", t.TempDir(): "AAI_MASTER_KEY_FILE: it is ignored"} {
		g := d.grounds()
		g.home = func() string { return home }
		s, err := setUp(setupInput{getenv: d.getenv, home: d.home, platform: hostPlatform(d.home, d.getenv), hostAccess: g})
		assert.NilError(t, err)
		store, passphrase := s.kept()
		for what, err := range map[string]error{"what is allowed": store.CheckWritable(), "a passphrase": passphrase.CheckAvailable(t.Context())} {
			assert.Check(t, is.Equal((err == nil), (want == "")), "%s %s %v", what, home, err)
			assert.Check(t, err == nil || !strings.Contains(err.Error(), "AAI_MASTER_KEY_FILE: it is not set") && strings.Contains(err.Error(), "is ignored"), "%s, where the account's home is %s: %v", what, home, err)
		}
	}
}

// file writes a file below the home folder and returns its path.
func (d *desk) file(t *testing.T, name, text string) string {
	t.Helper()
	return writeFile(t, d.home, name, text)
}

// open opens the gateway of the desk as a command does.
func (d *desk) open(t *testing.T, level string, stderr io.Writer) (*gateway.Gateway, func() error) {
	t.Helper()
	t.Setenv("HOME", d.home)
	t.Setenv("USERPROFILE", d.home)
	opened, closing, err := (&program{getenv: d.getenv, hostAccess: d.grounds(), err: stderr}).open(cli.Flags{LogLevel: level})
	assert.NilError(t, err)
	return opened, closing
}

// build returns the gateway of the desk with the text as the configuration file.
func (d *desk) build(t *testing.T, config string) *components {
	t.Helper()
	d.file(t, ".aai/config.json", config)
	return inProcess{home: d.home, getenv: d.getenv, host: d.grounds()}.build(t)
}

func (d *desk) getenv(name string) string { return d.env[name] }

// grounds returns the host access of a user who has confirmed everything.
func (d *desk) grounds() hostAccess {
	g := testHost(d.getenv)
	g.home = func() string { return d.home }
	return g
}

func (d *desk) read(flags cli.Flags) (*setup, error) {
	return setUp(setupInput{getenv: d.getenv, home: d.home, platform: hostPlatform(d.home, d.getenv), flags: flags, hostAccess: d.grounds()})
}

// readFile is read with the text as the configuration file.
func (d *desk) readFile(t *testing.T, text string) (*setup, error) {
	t.Helper()
	d.file(t, ".aai/config.json", text)
	return d.read(cli.Flags{})
}

func mustRead(t *testing.T, c *setup, err error) *setup {
	t.Helper()
	assert.NilError(t, err)
	return c
}

// The protocol's configuration file may enable a web page.
func TestNoWebPage(t *testing.T) {
	d := newDesk(t)
	c, err := d.readFile(t, `{"enableWebUI": true}`)
	mustRead(t, c, err)
	var log strings.Builder
	p := &program{getenv: d.getenv, hostAccess: d.grounds(), err: &log}
	built, err := p.build(c)
	assert.NilError(t, err)
	c.warnOfIdle(built.log)
	assert.Check(t, built.close())
	assert.Assert(t, is.Contains(log.String(), "level=WARN"))
	assert.Assert(t, is.Contains(log.String(), "enableWebUI"))
}

func TestAHomeThatIsNone(t *testing.T) {
	for home, message := range map[string]string{
		"":       "there is no home folder: ",
		"folder": `the home folder is "folder"; expected an absolute path`,
	} {
		t.Setenv("HOME", home)
		t.Setenv("USERPROFILE", home)
		p := &program{getenv: func(string) string { return "" }}
		_, err := p.config(cli.Flags{})
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "HOME=%q: %v", home, err)
		assert.Assert(t, strings.HasPrefix(e.Message, message), "HOME=%q: %v", home, err)
		assert.Equal(t, e.Code, aai.InvalidParams, "%q %v", home, err)
	}
}

func nothingIn(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	assert.NilError(t, err, folder)
	assert.Assert(t, is.Len(entries, 0), folder)
}

func TestServingPercent(t *testing.T) {
	for _, c := range []struct {
		set  int
		live uint64
		want int
	}{
		{100, 0, 400},
		{100, 1 << 20, 400}, // Go's minimum for the live heap is 4 MB
		{100, 4 << 20, 400},
		{100, 8 << 20, 200},
		{100, 16 << 20, 100},
		{100, 500 << 20, 100},
		{100, math.MaxUint64, 100},
		{-1, 1 << 20, -1}, // GOGC=off
		{50, 1 << 20, 50},
		{1000, 500 << 20, 1000},
	} {
		got := gcPercent(c.set, c.live)
		assert.Check(t, is.Equal(got, c.want), "set to %d%%, of %d bytes: %d%%, want %d%%", c.set, c.live, got, c.want)
	}
}

// The heap grows at most by minHeapGrowth, or by the live heap.
func TestServingPercentIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live := rapid.Uint64Range(0, 1<<40).Draw(t, "live")
		grown := max(live, 4<<20) / 100 * uint64(gcPercent(100, live))
		assert.Check(t, grown <= max(live, minHeapGrowth), "of %d bytes the heap grows by %d", live, grown)
	})
}

// TestGuideOfTheDesktop limits the tokens of the default profile's guide to windows: a line for
// each tool, and each in full on request. A token is four characters.
func TestGuideOfTheDesktop(t *testing.T) {
	const most, mostOfOne = 1200, 450
	none := func() *gateway.Gateway { return nil }
	desk := gui.New(gui.Config{ExtraTools: newCallTools(none, nil, dataFolders{}, nil, slog.New(slog.DiscardHandler)).desktop})
	guide := catalog.Guide(desk)
	t.Logf("the guide is about %d tokens", len(guide)/4)
	assert.Check(t, len(guide)/4 <= most, "the guide is about %d tokens, expected at most %d:\n%s", len(guide)/4, most, guide)
	for _, tool := range desk.Tools {
		if tool.Limits.Unlisted {
			continue
		}
		assert.Check(t, is.Contains(guide, "\n- "+tool.Name+"("), "the guide has no line for %s", tool.Name)
		full, _ := catalog.GuideForTool(desk, tool.Name)
		assert.Check(t, len(full)/4 <= mostOfOne, "the guide to %s is about %d tokens:\n%s", tool.Name, len(full)/4, full)
		for _, name := range tool.Params.Order {
			assert.Assert(t, is.Contains(full, "\n- "+name+" ("), tool.Name)
			assert.Assert(t, is.Contains(guide, name), tool.Name)
		}
	}
}
