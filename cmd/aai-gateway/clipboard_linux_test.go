package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestTheClipboardStays: an agent's clipboard content survives the end of its gateway.
func TestTheClipboardStays(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	t.Run("gateway", func(t *testing.T) {
		g := onScreen(t, s, `{"consent": {"preapproved": [
			{"app": "desktop", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
		err := g.windowTool(t.Context(), "ax_clipboard", map[string]any{"action": "write", "text": "kept"})
		assert.Assert(t, err == nil, err)
	})
	p, err := s.Start(private.Command{Name: "xclip", Args: []string{"-selection", "clipboard", "-out"}})
	assert.NilError(t, err)
	<-p.Done()
	got := p.Output()
	assert.Check(t, is.Equal(got, "kept"), "on the clipboard is %q", got)
}

// TestTheClipboardKnowsNoSecrets: the clipboard server, which outlives its gateway, inherits
// neither the environment nor open files.
func TestTheClipboardKnowsNoSecrets(t *testing.T) {
	t.Setenv("AAI_HTTP_TOKEN", "hidden-token")
	t.Setenv("OPENAI_API_KEY", "hidden-key")
	file, err := os.Create(filepath.Join(t.TempDir(), "strangers"))
	assert.NilError(t, err)
	defer func() { _ = file.Close() }()
	left, err := unix.Dup(int(file.Fd())) // child processes inherit this one
	assert.NilError(t, err)
	defer func() { _ = unix.Close(left) }()
	s := linuxtest.StartAccessible(t)
	g := onScreen(t, s, `{"consent": {"preapproved": [
		{"app": "desktop", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
	if err := g.windowTool(t.Context(), "ax_clipboard", map[string]any{"action": "write", "text": "kept"}); err != nil {
		t.Fatal(err)
	}
	keepers := 0
	for _, process := range testkit.ProcessesWithEnv(t, "DISPLAY="+s.Getenv("DISPLAY")+"\x00") {
		line, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		environ, err := os.ReadFile(filepath.Join(process, "environ"))
		if err != nil || !strings.HasSuffix(string(line), "\x00"+clipboardArgument+"\x00") {
			continue
		}
		keepers++
		for v := range strings.SplitSeq(strings.TrimSuffix(string(environ), "\x00"), "\x00") {
			name, _, _ := strings.Cut(v, "=")
			assert.Check(t, is.Contains([]string{"DISPLAY", "XAUTHORITY", "HOME", "PATH", "XDG_RUNTIME_DIR", "AAI_PRIVATE_SESSION"}, name))
		}
		open, err := filepath.Glob(filepath.Join(process, "fd", "*"))
		assert.NilError(t, err, "%q", open)
		assert.Assert(t, len(open) != 0, "%q", open)
		for _, fd := range open {
			what, _ := os.Readlink(fd)
			assert.Check(t, what != file.Name(), "it has %s open", what)
		}
	}
	assert.Check(t, is.Equal(keepers, 1), "%d processes keep the clip", keepers)
}

// TestProgramsGetNoSecrets: programs inherit the environment without the gateway's secrets.
func TestProgramsGetNoSecrets(t *testing.T) {
	kept := []string{"PATH=/bin", "AAI_PRIVATE_SESSION=1", "OPENAI_API_KEY=theirs", "LANG=C"}
	given := append([]string{"AAI_HTTP_TOKEN=x", "AXTERMINATOR_HTTP_TOKEN=x", "AAI_OPENAI_KEY=x", "AXTERMINATOR_API_KEY_FILE=x", "AAI_CLIENT_SECRET=x", "AAI_PASSPHRASE_FILE=x"}, kept...)
	got := withoutSecrets(given)
	assert.Check(t, slices.Equal(got, kept), "%q", got)
}
