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
	if err := x11.New(x11.Config{Getenv: os.Getenv}).ServeClip(t.Context(), os.Stdin, os.Stdout); err != nil {
		t.Fatal(err)
	}
}

// TestClipOutlivesTheGateway checks that a clip outlives the gateway, and that its process
// ends after another copy.
func TestClipOutlivesTheGateway(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := x11.New(x11.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv}), ClipServer: func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestClipKeeper$")
		cmd.Env = append(s.Env, clipServerEnv+"=1")
		return cmd
	}})
	stays, err := d.Set(soon(t), desktop.Clip{Text: "Grüße"})
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(stays, "(")
	number, _, _ := strings.Cut(rest, ")")
	pid, err := strconv.Atoi(number)
	if err != nil || !strings.Contains(stays, "10m") {
		t.Fatalf("it stays %q", stays)
	}
	if got, err := d.Get(soon(t)); err != nil || got.Text != "Grüße" {
		t.Errorf("the gateway reads %q, %v", got.Text, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if got := string(pasted(t, s, "UTF8_STRING")); got != "Grüße" {
		t.Errorf("after the gateway has ended there is %q", got)
	}
	copyOut(t, s, "UTF8_STRING", []byte("theirs"))
	for end := time.Now().Add(2 * time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("who kept the clip has not ended")
		}
	}
}

// TestClipWithoutServer checks that without such a process the gateway serves the clip, and says so.
func TestClipWithoutServer(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	d := x11.New(x11.Config{Getenv: s.Getenv, ClipServer: func() *exec.Cmd { return exec.CommandContext(t.Context(), "/bin/false") }})
	t.Cleanup(func() { _ = d.Close() })
	stays, err := d.Set(soon(t), desktop.Clip{Text: "ours"})
	if err != nil || !strings.Contains(stays, "as long as the gateway runs") {
		t.Fatalf("it stays %q, %v", stays, err)
	}
	if got := string(pasted(t, s, "UTF8_STRING")); got != "ours" {
		t.Errorf("there is %q", got)
	}
}
