package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// writeAxterminatorFiles writes axterminator's files, as documented, into a home.
func writeAxterminatorFiles(t *testing.T, d *testHome, names ...string) {
	t.Helper()
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		assert.NilError(t, err)
		d.file(t, ".config/axterminator/"+name, string(b))
	}
}

// TestTheFilesOfTheDesktopTools checks that axterminator's files are read unchanged without a
// confirmation, and that each of their keys is a setting.
func TestTheFilesOfTheDesktopTools(t *testing.T) {
	d := newTestHome(t)
	d.confirmed = func(reauth.Setting) aai.Channel { return "" }
	writeAxterminatorFiles(t, d, "config.toml", "security.toml")
	c, err := d.read(Flags{})
	mustRead(t, c, err)
	folder := filepath.Join(d.home, ".config/axterminator")
	for key, want := range map[string]any{
		"logLevel": "info", "server.security_mode": "normal", "server.confirm_destructive": true,
		"vlm.backend": "anthropic", "rate_limits.vlm_rpm": 10, "http.port": 8741, "http.bind": "127.0.0.1",
		"cache.tree_ttl_ms": 500, "cache.screenshot_debounce_ms": 100,
		"rate_limits.rps": 50, "rate_limits.rpm": 1000, "rate_limits.concurrency": 10, "rate_limits.script_rpm": 5,
	} {
		got, origin := value(c, key)
		assert.Check(t, is.Equal(got, want), key)
		assert.Check(t, is.Equal(origin, filepath.Join(folder, "config.toml")), key)
	}
	allowed := []string{"Calculator", "com.apple.Safari", "com.microsoft.VSCode"}
	denied := []string{"Keychain Access", "System Settings", "com.apple.Keychain-Access", "System Settings", "1Password"}
	assert.Check(t, is.DeepEqual([][]string{allowed, denied}, [][]string{c.Policy.AllowedApps, c.Policy.DeniedApps}))
	assert.Check(t, is.Equal(len(c.Notes)+len(c.Unconfirmed), 0), "%q %v", c.Notes, c.Unconfirmed)
	assert.Check(t, c.Cache.TreeMaxAge == 500*time.Millisecond, "%+v", c.Cache)
}

// TestTheDesktopToolsSayLess checks that the person's file wins, and no older file widens.
func TestTheDesktopToolsSayLess(t *testing.T) {
	d := newTestHome(t)
	d.confirmed = func(reauth.Setting) aai.Channel { return "" }
	path := d.file(t, ".config/axterminator/config.toml", "[server]\nlog_level = \"debug\"\nconfirm_destructive = false\n[rate_limits]\nrps = 9999\n[cache]\ntree_ttl_ms = 7\n")
	d.env["AXTERMINATOR_TREE_CACHE_MS"] = "250"
	c, err := d.readFile(t, `{"server": {"log_level": "error"}}`)
	mustRead(t, c, err)
	got, origin := value(c, "logLevel")
	assert.Check(t, is.Equal(got, "error"), origin)
	assert.Check(t, origin != path, "logLevel is %v from %s", got, origin)
	assert.Assert(t, c.Cache.TreeMaxAge == 250*time.Millisecond, "%+v %v", c.Cache, c.Policy.ConfirmDestructive)
	assert.Assert(t, c.Policy.ConfirmDestructive, "%+v %v", c.Cache, c.Policy.ConfirmDestructive)
	assert.Equal(t, c.Policy.Limits[policy.KindDesktop].PerSecond, 50, "%+v %v", c.Cache, c.Policy.ConfirmDestructive)
	assert.Assert(t, is.Len(c.Notes, 2), "%+v %v", c.Cache, c.Policy.ConfirmDestructive)
	d.env["XDG_CONFIG_HOME"] = filepath.Join(d.home, "elsewhere")
	c, err = d.read(Flags{File: path})
	mustRead(t, c, err)
	got, origin = value(c, "logLevel")
	assert.Check(t, is.Equal(got, "debug"))
	assert.Check(t, is.Equal(origin, path))
}

func TestDesktopToolsFilesThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"[server]\nlog_level = 5\n":                         "config.toml: logLevel: expected",
		"[server\n":                                         "config.toml: line 2: ",
		"[vlm]\napi_key = hush-hush\n":                      "config.toml: line 2: after the name \"vlm.api_key\"",
		"[cache]\ntree_ttl_ms = -1\n":                       "cache.tree_ttl_ms: expected a number of milliseconds",
		"[cache]\ntree_ttl = 1\n":                           `there is no setting "cache.tree_ttl"`,
		"[vlm]\nbackend = \"abacus\"\n":                     "vlm.backend: expected one of auto, anthropic",
		"[vlm]\nrate_limit = 3\n[rate_limits]\nvlm_rpm = 4": "are one setting",
		"[server]\nlog_level = 1979-05-27\n":                "logLevel: expected",
	} {
		d := newTestHome(t)
		d.file(t, ".config/axterminator/config.toml", text)
		if _, err := d.read(Flags{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		} else if strings.Contains(err.Error(), "hush") {
			t.Errorf("the error has a value of the file: %v", err)
		}
	}
}

// TestUnknownKeysOfTheDesktopTools checks that suggestions for unknown keys include aliases.
func TestUnknownKeysOfTheDesktopTools(t *testing.T) {
	d := newTestHome(t)
	d.file(t, ".config/axterminator/config.toml", "[server]\nlog_leve = \"info\"\n")
	_, err := d.read(Flags{})
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "%+v", e)
	assert.Assert(t, len(e.Candidates) != 0, "%+v", e)
	assert.Equal(t, e.Candidates[0], "server.log_level", "%+v", e)
}

// TestUnknownVariables checks that a variable that only looks like a setting is noted.
func TestUnknownVariables(t *testing.T) {
	d := newTestHome(t)
	d.environ = []string{"AXTERMINATOR_TREE_CACHE=1", "AXTERMINATOR_HTTP_TOKEN=x", "AXTERMINATOR_LOG_LEVEL=info", "HOME=/", "AXTERMINATOR_ZZZ=secret"}
	c, err := d.read(Flags{})
	mustRead(t, c, err)
	want := []string{"AXTERMINATOR_TREE_CACHE is set, and there is no such setting; did you mean AXTERMINATOR_TREE_CACHE_MS?", "AXTERMINATOR_ZZZ is set, and there is no such setting"}
	assert.Check(t, is.DeepEqual(want, c.Notes))
}
