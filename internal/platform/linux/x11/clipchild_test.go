//go:build linux

package x11_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// clipServerEnv makes the test binary the process that serves a clip.
const clipServerEnv = "AAI_TEST_KEEPS_CLIP"

// TestClipKeeper is that process.
func TestClipKeeper(t *testing.T) {
	if os.Getenv(clipServerEnv) == "" {
		return
	}
	assert.NilError(t, x11.New(x11.Config{Getenv: os.Getenv}).ServeClip(t.Context(), os.Stdin, os.Stdout))
}

// TestClipOutlivesTheGateway checks that a clip outlives the gateway, and that its process
// ends after another copy.
func TestClipOutlivesTheGateway(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	self, err := os.Executable()
	assert.NilError(t, err)
	d := x11.New(x11.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv}), ClipServer: func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestClipKeeper$")
		cmd.Env = append(s.Env, clipServerEnv+"=1")
		return cmd
	}})
	stays, err := d.Set(soon(t), desktop.Clip{Text: "Grüße"})
	assert.NilError(t, err)
	_, rest, _ := strings.Cut(stays, "(")
	number, _, _ := strings.Cut(rest, ")")
	pid, err := strconv.Atoi(number)
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(stays, "10m"))
	got, err := d.Get(soon(t))
	assert.NilError(t, err)
	assert.Equal(t, got.Text, "Grüße")
	assert.NilError(t, d.Close())
	if got := string(pasted(t, s, "UTF8_STRING")); got != "Grüße" {
		t.Errorf("after the gateway has ended there is %q", got)
	}
	copyOut(t, s, "UTF8_STRING", []byte("theirs"))
	for end := time.Now().Add(2 * time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		assert.Assert(t, !time.Now().After(end), "who kept the clip has not ended")
	}
}

// TestClipWithoutServer checks that without such a process the gateway serves the clip, and says so.
func TestClipWithoutServer(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	d := x11.New(x11.Config{Getenv: s.Getenv, ClipServer: func() *exec.Cmd { return exec.CommandContext(t.Context(), "/bin/false") }})
	t.Cleanup(func() { _ = d.Close() })
	stays, err := d.Set(soon(t), desktop.Clip{Text: "ours"})
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(stays, "as long as the gateway runs"))
	assert.Check(t, is.Equal(string(pasted(t, s, "UTF8_STRING")), "ours"))
}
