//go:build linux

package x11_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"image"
	"image/png"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// set puts a clip on the clipboard.
func set(t *testing.T, d *x11.Display, clip desktop.Clip) error {
	t.Helper()
	_, err := d.Set(soon(t), clip)
	return err
}

// copyOut puts data on the clipboard as another program, and returns it.
func copyOut(t testing.TB, s *linuxtest.Session, target string, data []byte) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "xclip", "-quiet", "-selection", "clipboard", "-target", target, "-in")
	cmd.Env, cmd.Stdin = s.Env, bytes.NewReader(data)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
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
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		var err error
		if clip, err = get(); err != nil {
			t.Fatal(err)
		}
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
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestClipboardFromOthers(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	get := func() (desktop.Clip, error) { return d.Get(soon(t)) }
	if clip, err := get(); err != nil || clip.Text != "" || clip.PNG != nil {
		t.Errorf("a new clipboard is %+v, %v", clip, err)
	}
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

func TestClipboardTooBig(t *testing.T) {
	s := linuxtest.Start(t)
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

func TestClipboardHungOwner(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	owner := copyOut(t, s, "UTF8_STRING", []byte("hello"))
	eventually(t, func() (desktop.Clip, error) { return d.Get(soon(t)) }, func(c desktop.Clip) bool { return c.Text == "hello" })
	pause(t, owner.Process.Pid)
	// On a busy computer the time may be over before the request.
	var err error
	for limit := 50 * time.Millisecond; limit < patience && (err == nil || !strings.Contains(err.Error(), "process ")); limit *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err = d.Get(ctx)
		cancel()
		fails(t, err, aai.Timeout, aai.NotDelivered)
	}
	fails(t, err, aai.Timeout, aai.NotDelivered, "process ")
	proceed(t, owner.Process.Pid)
	if clip, err := d.Get(soon(t)); err != nil || clip.Text != "hello" {
		t.Errorf("afterwards: %+v, %v", clip, err)
	}
}

func TestClipboardToOthers(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	long := strings.Repeat("Größe 日本 🙂\n", 5<<20/22)
	for _, text := range []string{"short", "Grüße", "日本 🙂", strings.Repeat("x", 128<<10), strings.Repeat("x", 256<<10), long} {
		if _, err := d.Set(soon(t), desktop.Clip{Text: text}); err != nil {
			t.Fatal(err)
		}
		for _, target := range []string{"UTF8_STRING", "TEXT", "text/plain;charset=utf-8"} {
			if got := pasted(t, s, target); string(got) != text {
				t.Errorf("as %s it is %d bytes, want %d", target, len(got), len(text))
			}
		}
		if clip, err := d.Get(soon(t)); err != nil || clip.Text != text {
			t.Errorf("our own is %d bytes, %v", len(clip.Text), err)
		}
	}
	if _, err := d.Set(soon(t), desktop.Clip{Text: "Grüße"}); err != nil {
		t.Fatal(err)
	}
	if got := pasted(t, s, "STRING"); string(got) != "Gr\xfc\xdfe" {
		t.Errorf("as Latin-1 it is %q", got)
	}
	targets := string(pasted(t, s, "TARGETS"))
	for _, want := range []string{"TARGETS", "TIMESTAMP", "MULTIPLE", "UTF8_STRING", "STRING"} {
		if !strings.Contains("\n"+targets, "\n"+want+"\n") {
			t.Errorf("TARGETS lacks %s: %q", want, targets)
		}
	}
	data := picture(t, 1200)
	if _, err := d.Set(soon(t), desktop.Clip{PNG: data}); err != nil {
		t.Fatal(err)
	}
	if got := pasted(t, s, "image/png"); !bytes.Equal(got, data) {
		t.Errorf("the picture is %d bytes, want %d", len(got), len(data))
	}
	if strings.Contains(string(pasted(t, s, "TARGETS")), "STRING") {
		t.Error("a picture is offered as text")
	}
	copyOut(t, s, "UTF8_STRING", []byte("theirs"))
	eventually(t, func() (desktop.Clip, error) { return d.Get(soon(t)) }, func(c desktop.Clip) bool { return c.Text == "theirs" })
	if _, err := d.Set(soon(t), desktop.Clip{}); err != nil {
		t.Fatal(err)
	}
	if clip, err := d.Get(soon(t)); err != nil || clip.Text != "" || clip.PNG != nil {
		t.Errorf("emptied, it is %+v, %v", clip, err)
	}
}
