package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
)

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
	path := filepath.Join(d.home, name)
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
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
