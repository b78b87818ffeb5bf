package web_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/platform/linux/takeover"
)

// desktopTools returns the tools of isolated sessions.
func desktopTools(t *testing.T) []*aai.Tool {
	t.Helper()
	relay := takeover.New()
	t.Cleanup(func() { assert.Check(t, relay.Close()) })
	return relay.Tools()
}

// An entrySession is an isolated session with a field for text.
type entrySession struct {
	*private.Isolated
	desk  *private.Session
	entry *private.Program
}

// newEntrySession starts a session with a label of hostile text.
func newEntrySession(t *testing.T) *entrySession {
	t.Helper()
	i, err := private.NewIsolated(private.Options{Width: 1000, Height: 640, Label: "zenity <b>bold</b>"})
	assert.NilError(t, err)
	s := &entrySession{Isolated: i}
	t.Cleanup(func() {
		s.end(t)
		assert.Check(t, i.LockFile().Close())
	})
	s.desk, err = i.Start(t.Context(), append(os.Environ(), "AAI_PRIVATE_SESSION="+i.Folder), nil)
	assert.NilError(t, err)
	s.entry, err = s.desk.Start(private.Command{Name: "zenity", Args: []string{"--entry", "--title=Name", "--text=Your name"}})
	assert.NilError(t, err)
	return s
}

// end ends the session and removes it. It may be called again.
func (s *entrySession) end(t *testing.T) {
	t.Helper()
	assert.Check(t, s.desk.End())
	assert.Check(t, s.Finish())
}

// page returns the path of the session's page.
func (s *entrySession) page() string { return "/desktops/" + s.ID() }

// awaitEntry waits until the dialog has ended, and returns its text.
func (s *entrySession) awaitEntry(t *testing.T) string {
	t.Helper()
	_ = s.entry.Await(t.Context(), "the dialog ends", func() bool { return !s.entry.Running() }) // it has ended
	lines := strings.Split(strings.TrimSpace(s.entry.Output()), "\n")
	return lines[len(lines)-1]
}

// isShown reports whether the dialog has the keyboard of the session's screen.
func (s *entrySession) awaitShown(t *testing.T) {
	t.Helper()
	assert.NilError(t, s.entry.Await(t.Context(), "the dialog is shown", func() bool {
		picture, err := s.Screen()
		if err != nil {
			return false
		}
		red, _, _, _ := picture.At(500, 320).RGBA()
		return red > 0x8000
	}))
}

// TestDesktopInABrowser watches a session in Chromium, takes it over, types into its dialog, and ends it. A second session
// gets nothing. AAI_PICTURES=<folder> stores screenshots.
func TestDesktopInABrowser(t *testing.T) {
	w, s, other := newWorld(t), newEntrySession(t), newEntrySession(t)
	s.awaitShown(t)
	other.awaitShown(t)
	w.config.WatchSession = takeover.Watch
	w.open(t, w.config)
	runBrowserScript(t, "desktop.mjs", "chromium", nil, map[string]any{"link": w.link, "page": s.page(), "pictures": os.Getenv("AAI_PICTURES")}, func(said string) {
		switch said {
		case "typed":
			assert.Check(t, is.Equal(s.awaitEntry(t), "Zoë 名前 ok"))
		case "end it":
			s.end(t)
		default:
			t.Error(said)
		}
	})
	assert.Check(t, other.entry.Running())
	var calls []struct {
		Tool string         `json:"tool"`
		Args map[string]any `json:"args"`
	}
	assert.NilError(t, w.history(t, &calls))
	inputs := 0
	for _, c := range calls {
		if c.Tool == takeover.InputTool {
			inputs++
			text, _ := json.Marshal(c.Args)
			assert.Check(t, !strings.Contains(string(text), "Zo"), "%s", text)
		}
	}
	assert.Check(t, inputs >= 3, "%d inputs are on record: %+v", inputs, calls)
}

// TestDesktopWithoutScripts takes a session over by the forms alone, as a browser without scripts does.
func TestDesktopWithoutScripts(t *testing.T) {
	w, s := newWorld(t), newEntrySession(t)
	s.awaitShown(t)
	w.config.WatchSession = takeover.Watch
	w.open(t, w.config)
	w.enter(t)
	assert.Check(t, is.Contains(w.get(t, "/now").body, `<a href="`+s.page()+`">`))
	send := func(act string, fields ...string) answer {
		form := w.form(t, s.page())
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		return w.post(t, s.page()+"/"+act, form)
	}
	refused := send("input", "text", "early")
	assert.Check(t, is.Contains(refused.body, "is not taken over"))
	assert.Check(t, is.Contains(send("take").body, "You work here."))
	assert.Check(t, private.IsTaken(s.Folder))
	for _, fields := range [][]string{{"at.x", "500", "at.y", "320"}, {"text", "Ann"}, {"key", "backspace"}, {"text", "na"}, {"key", "return"}} {
		assert.Check(t, is.Equal(send("input", fields...).status, http.StatusOK), "%q", fields)
	}
	assert.Check(t, is.Equal(s.awaitEntry(t), "Anna"))
	assert.Check(t, is.Equal(send("input", "at.x", "1000", "at.y", "10").status, http.StatusOK)) // past the edge: the server clips it
	foreign := w.post(t, s.page()+"/input", url.Values{"csrf": {"x"}, "key": {"return"}})
	assert.Check(t, is.Equal(foreign.status, http.StatusForbidden))
	assert.Check(t, is.Contains(send("give").body, "The agent works here."))
	assert.Check(t, !private.IsTaken(s.Folder))
	s.end(t)
	assert.Check(t, is.Contains(w.get(t, s.page()).body, "This desktop has ended"))
}

// TestScreenStream checks the live picture: only a login gets it, it ends with the session and with the login, and a third
// one ends the first.
func TestScreenStream(t *testing.T) {
	w, s := newWorld(t), newEntrySession(t)
	w.config.WatchSession = takeover.Watch
	w.open(t, w.config)
	assert.Check(t, !strings.Contains(w.get(t, "/screen/"+s.ID()).header.Get("Content-Type"), "multipart"), "a stranger gets the picture")
	w.enter(t)
	assert.Check(t, is.Equal(w.get(t, "/screen/0").status, http.StatusNotFound))
	stream := func() *bufio.Reader {
		response, err := w.client.Do(w.request(t, http.MethodGet, "/screen/"+s.ID(), nil))
		assert.NilError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
		assert.Check(t, is.Contains(response.Header.Get("Content-Type"), "multipart/x-mixed-replace; boundary="))
		return bufio.NewReader(response.Body)
	}
	ends := func(of *bufio.Reader) {
		t.Helper()
		ended := make(chan error, 1)
		go func() { _, err := io.Copy(io.Discard, of); ended <- err }()
		select {
		case err := <-ended:
			assert.Check(t, err)
		case <-time.After(20 * time.Second):
			t.Error("the stream goes on")
		}
	}
	first := stream()
	picture, err := png.Decode(bytes.NewReader(readPart(t, first)))
	assert.NilError(t, err)
	assert.Check(t, is.Equal(fmt.Sprint(picture.Bounds().Size()), "(1000,640)"))
	second := stream()
	readPart(t, second)
	third := stream()
	readPart(t, third)
	ends(first)
	w.post(t, "/leave", w.form(t, "/now"))
	ends(second)
	ends(third)
	w.open(t, w.config)
	w.enter(t)
	last := stream()
	readPart(t, last)
	s.end(t)
	ends(last)
}

// readPart returns the content of the next part of a stream of pictures.
func readPart(t *testing.T, from *bufio.Reader) []byte {
	t.Helper()
	var content []byte
	for {
		line, err := from.ReadBytes('\n')
		assert.NilError(t, err)
		switch {
		case bytes.HasPrefix(line, []byte("--")) && len(content) > 0:
			return content
		case bytes.HasPrefix(line, []byte("--")), bytes.HasPrefix(line, []byte("Content-Type")), len(content) == 0 && len(bytes.TrimSpace(line)) == 0:
		default:
			content = append(content, line...)
		}
	}
}
