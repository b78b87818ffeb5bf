//go:build linux

package x11

import (
	"bytes"
	"context"
	"crypto/rand"
	"image"
	"image/png"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// set puts a clip on the clipboard.
func set(t *testing.T, d *Display, clip desktop.Clip) error {
	t.Helper()
	_, err := d.Set(soon(t), clip)
	return err
}

// copyOut puts data on the clipboard as another program, and returns it.
func copyOut(t testing.TB, s *linuxtest.Session, target string, data []byte) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "xclip", "-quiet", "-selection", "clipboard", "-target", target, "-in")
	cmd.Env, cmd.Stdin = s.Env, bytes.NewReader(data)
	assert.NilError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// pasted returns the clipboard according to xclip.
func pasted(t testing.TB, s *linuxtest.Session, target string) []byte {
	t.Helper()
	return tool(t, s, nil, "xclip", "-selection", "clipboard", "-target", target, "-out")
}

// eventually waits until the clipboard is ready.
func eventually(t testing.TB, get func() (desktop.Clip, error), ready func(desktop.Clip) bool) {
	t.Helper()
	var clip desktop.Clip
	for deadline := time.Now().Add(testPatience); time.Now().Before(deadline); {
		var err error
		clip, err = get()
		assert.NilError(t, err)
		if ready(clip) {
			return
		}
	}
	t.Fatalf("the clipboard has %d bytes of text and %d of a picture: %.100q", len(clip.Text), len(clip.PNG), clip.Text)
}

func picture(t testing.TB, side int) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, side, side))
	_, _ = rand.Read(m.Pix)
	var b bytes.Buffer
	assert.NilError(t, (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m))
	return b.Bytes()
}

func testClipboardFromOthers(t *testing.T, s *linuxtest.Session) {
	d := open(t, s)
	get := func() (desktop.Clip, error) { return d.Get(soon(t)) }
	clip, err := get()
	assert.NilError(t, err, "%+v", clip)
	assert.Equal(t, clip.Text, "", "%+v", clip)
	assert.Assert(t, clip.PNG == nil, "a new clipboard is %+v, %v", clip, err)
	long := strings.Repeat("Größe 日本 🙂\n", 5<<20/22)
	for _, text := range []string{"short", "Grüße 🙂", long} {
		copyOut(t, s, "UTF8_STRING", []byte(text))
		eventually(t, get, func(c desktop.Clip) bool { return c.Text == text })
	}
	for _, side := range []int{10, 1200} {
		data := picture(t, side)
		copyOut(t, s, "image/png", data)
		eventually(t, get, func(c desktop.Clip) bool { return c.Text == "" && bytes.Equal(c.PNG, data) })
	}
	copyOut(t, s, "text/html", []byte("<b>"))
	eventually(t, get, func(c desktop.Clip) bool { return c.Text == "" && c.PNG == nil })
}

func testClipboardTooBig(t *testing.T, s *linuxtest.Session) {
	d := open(t, s)
	copyOut(t, s, "UTF8_STRING", bytes.Repeat([]byte("x"), 17<<20))
	for {
		_, err := d.Get(soon(t))
		if err == nil {
			continue // xclip does not own it yet
		}
		fails(t, err, aai.AutomationFailed, aai.NotDelivered, "16777216")
		break
	}
	fails(t, set(t, d, desktop.Clip{Text: strings.Repeat("x", 16<<20+1)}), aai.InvalidParams, aai.NotDelivered, "16777217")
	fails(t, set(t, d, desktop.Clip{Text: "\xff"}), aai.InvalidParams, aai.NotDelivered, "UTF-8")
	fails(t, set(t, d, desktop.Clip{PNG: []byte("GIF")}), aai.InvalidParams, aai.NotDelivered, "PNG")
}

func testClipboardHungOwner(t *testing.T, s *linuxtest.Session) {
	d := open(t, s)
	owner := copyOut(t, s, "UTF8_STRING", []byte("hello"))
	eventually(t, func() (desktop.Clip, error) { return d.Get(soon(t)) }, func(c desktop.Clip) bool { return c.Text == "hello" })
	assert.NilError(t, owner.Process.Signal(syscall.SIGSTOP))
	// On a busy computer the time may be over before the request.
	var err error
	for limit := 50 * time.Millisecond; limit < testPatience && (err == nil || !strings.Contains(err.Error(), "process ")); limit *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err = d.Get(ctx)
		cancel()
		fails(t, err, aai.Timeout, aai.NotDelivered)
	}
	fails(t, err, aai.Timeout, aai.NotDelivered, "process ")
	assert.NilError(t, owner.Process.Signal(syscall.SIGCONT))
	clip, err := d.Get(soon(t))
	assert.NilError(t, err, "%+v", clip)
	assert.Equal(t, clip.Text, "hello", "%+v", clip)
}

func testClipboardToOthers(t *testing.T, s *linuxtest.Session) {
	d := open(t, s)
	long := strings.Repeat("Größe 日本 🙂\n", 5<<20/22)
	for _, text := range []string{"short", "Grüße", "日本 🙂", strings.Repeat("x", 128<<10), strings.Repeat("x", 256<<10), long} {
		_, err := d.Set(soon(t), desktop.Clip{Text: text})
		assert.NilError(t, err)
		for _, target := range []string{"UTF8_STRING", "TEXT", "text/plain;charset=utf-8"} {
			got := pasted(t, s, target)
			assert.Check(t, is.Equal(string(got), text), "as %s it is %d bytes, want %d", target, len(got), len(text))
		}
		clip, err := d.Get(soon(t))
		assert.NilError(t, err, "%d", len(clip.Text))
		assert.Equal(t, clip.Text, text, "%d", len(clip.Text))
	}
	_, err := d.Set(soon(t), desktop.Clip{Text: "Grüße"})
	assert.NilError(t, err)
	got := pasted(t, s, "STRING")
	assert.Check(t, is.Equal(string(got), "Gr\xfc\xdfe"), "as Latin-1 it is %q", got)
	targets := string(pasted(t, s, "TARGETS"))
	for _, want := range []string{"TARGETS", "TIMESTAMP", "MULTIPLE", "UTF8_STRING", "STRING"} {
		assert.Check(t, is.Contains("\n"+targets, "\n"+want+"\n"), "TARGETS lacks %s: %q", want, targets)
	}
	data := picture(t, 1200)
	_, err = d.Set(soon(t), desktop.Clip{PNG: data})
	assert.NilError(t, err)
	got = pasted(t, s, "image/png")
	assert.Check(t, bytes.Equal(got, data), "the picture is %d bytes, want %d", len(got), len(data))
	assert.Check(t, !strings.Contains(string(pasted(t, s, "TARGETS")), "STRING"), "a picture is offered as text")
	copyOut(t, s, "UTF8_STRING", []byte("theirs"))
	eventually(t, func() (desktop.Clip, error) { return d.Get(soon(t)) }, func(c desktop.Clip) bool { return c.Text == "theirs" })
	_, err = d.Set(soon(t), desktop.Clip{})
	assert.NilError(t, err)
	clip, err := d.Get(soon(t))
	assert.NilError(t, err, "%+v", clip)
	assert.Equal(t, clip.Text, "", "%+v", clip)
	assert.Assert(t, clip.PNG == nil, "emptied, it is %+v, %v", clip, err)
}

// clipServerEnv makes the test binary the process that serves a clip.
const clipServerEnv = "AAI_TEST_KEEPS_CLIP"

// TestClipKeeper is that process.
func TestClipKeeper(t *testing.T) {
	if os.Getenv(clipServerEnv) == "" {
		return
	}
	assert.NilError(t, New(Config{Getenv: os.Getenv}).ServeClip(t.Context(), os.Stdin, os.Stdout))
}

// testClipOutlivesTheGateway checks that a clip outlives the gateway, and that its process
// ends after another copy.
func testClipOutlivesTheGateway(t *testing.T, s *linuxtest.Session) {
	self, err := os.Executable()
	assert.NilError(t, err)
	d := New(Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv}), ClipServer: func() *exec.Cmd {
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

// testClipWithoutServer checks that without such a process the gateway serves the clip, and says so.
func testClipWithoutServer(t *testing.T, s *linuxtest.Session) {
	d := New(Config{Getenv: s.Getenv, ClipServer: func() *exec.Cmd { return exec.CommandContext(t.Context(), "/bin/false") }})
	t.Cleanup(func() { _ = d.Close() })
	stays, err := d.Set(soon(t), desktop.Clip{Text: "ours"})
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(stays, "as long as the gateway runs"))
	assert.Check(t, is.Equal(string(pasted(t, s, "UTF8_STRING")), "ours"))
}
