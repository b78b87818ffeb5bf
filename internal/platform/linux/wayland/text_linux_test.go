package wayland_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// clipServerEnv makes the test binary the process that serves a clip.
const clipServerEnv = "AAI_TEST_KEEPS_CLIP"

// TestClipKeeper is that process.
func TestClipKeeper(t *testing.T) {
	if os.Getenv(clipServerEnv) == "" {
		return
	}
	assert.NilError(t, wayland.New(wayland.Config{Getenv: os.Getenv}).ServeClip(t.Context(), os.Stdin, os.Stdout))
}

// keepClips makes another process serve the clips of the session, until the session ends.
func (s *session) keepClips(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	s.Display = wayland.New(wayland.Config{Getenv: s.Getenv, InputLock: s.lock, ClipServer: func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestClipKeeper$")
		cmd.Env = append(s.Env, clipServerEnv+"=1")
		return cmd
	}})
	t.Cleanup(func() { _ = s.Close() })
}

// TestSwayText: a text arrives in Chromium, which takes no key with a character outside the first plane, and in a
// terminal, whatever the layout; the person's clip is there afterwards, also after the gateway has ended.
func TestSwayText(t *testing.T) {
	t.Parallel()
	const text, old = "The quick brown fox äöü ß € 漢字 😀 yz;:_'\"#{}[]\\|@", "the person's clip ü"
	s := newSession(t, "XKB_DEFAULT_LAYOUT=fr")
	s.keepClips(t)
	stays, err := s.Set(t.Context(), desktop.Clip{Text: old})
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(stays, "a process of the gateway"))
	t.Run("foot", func(t *testing.T) {
		w := s.show(t, "foot", "sh", "-c", "cat > typed")
		until(t, func() bool { _, err := os.Stat(filepath.Join(s.Home, "typed")); return err == nil })
		assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, text+"\n"))
		until(t, func() bool { return strings.HasSuffix(s.read("typed"), "\n") })
		got := s.read("typed")
		assert.Check(t, is.Equal(got, text+"\n"), "typed %q, arrived %q", text, got)
	})
	t.Run("Chromium", func(t *testing.T) {
		f := s.Fixture(t, linuxtest.Chromium)
		w := s.window(t, f.Title, isActive)
		s.clickField(t, s.Display, f, w, "Full name")
		assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, text))
		f.WaitState(t, "name", text)
	})
	assert.NilError(t, s.Close())
	got := s.output(t, "wl-paste", "-n")
	assert.Check(t, is.Equal(got, old), "after the gateway has ended the clipboard has %q", got)
}
