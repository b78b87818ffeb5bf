package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
)

// takePagePictures opens the dashboard in the user's browser, which no agent sees, and takes
// pictures of the active calls, the history and the recording, light and dark.
func (s *privateSession) takePagePictures(ctx context.Context) (pictures []screenshot, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	link, served, err := s.servePage(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { cancel(); <-served }()
	b, err := s.browse(ctx)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "Chromium did not start: %w", err)
	}
	defer b.close()
	b.send("Page.navigate", map[string]any{"url": link})
	b.until(ctx, `{ const enter = document.querySelector('form[action^="/enter/"] button'); if (enter) enter.click(); enter !== null }`)
	b.until(ctx, `location.pathname.startsWith("/enter/") === false && document.readyState === "complete"`)
	root := link[:strings.Index(link, "/enter/")]
	recordings, err := filepath.Glob(filepath.Join(s.Home, ".local", "share", "aai-gateway", "recordings", "*.jsonl"))
	if err != nil || len(recordings) != 1 {
		return nil, aai.Errorf(aai.AutomationFailed, "expected one recording, got %d: %w", len(recordings), err)
	}
	for _, at := range []struct{ name, path string }{{"now", "/now"}, {"history", "/history"}, {"recording", "/recordings/" + filepath.Base(recordings[0])}} {
		b.send("Page.navigate", map[string]any{"url": root + at.path})
		b.until(ctx, `location.pathname === "`+at.path+`" && document.readyState === "complete"`)
		for _, theme := range []string{"light", "dark"} {
			b.send("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": theme}}})
			var shot struct{ Data string }
			if err := json.Unmarshal(b.send("Page.captureScreenshot", nil), &shot); b.err == nil && err != nil {
				b.err = err
			}
			png, err := base64.StdEncoding.DecodeString(shot.Data)
			if b.err == nil && err != nil {
				b.err = err
			}
			pictures = append(pictures, screenshot{at.name + "-" + theme, png})
		}
	}
	if b.err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the page cannot be shown: %w", b.err)
	}
	return pictures, nil
}

// servePage serves the dashboard until ctx ends, and returns the link that admits one browser.
func (s *privateSession) servePage(ctx context.Context) (link string, served <-chan struct{}, err error) {
	from, out := io.Pipe()
	ended := make(chan struct{})
	var said bytes.Buffer
	go func() {
		defer close(ended)
		s.run(ctx, strings.NewReader(""), out, &said, "web", "--port", "0")
		_ = out.Close()
	}()
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if at := strings.Index(lines.Text(), "http://"); at >= 0 {
			go func() { _, _ = io.Copy(io.Discard, from) }() // it ends with the page
			return strings.TrimSpace(lines.Text()[at:]), ended, nil
		}
	}
	<-ended
	return "", nil, aai.Errorf(aai.AutomationFailed, "the page was not served: %s", aai.CleanLabel(said.String(), 400))
}

// pageBrowser is a headless Chromium that the demo controls by the DevTools protocol over a pipe:
// JSON, each message ended by NUL. After its first error it does nothing.
type pageBrowser struct {
	program *private.Program
	in      *os.File
	from    *os.File
	out     *bufio.Reader
	page    string // session id of its only page
	last    int
	err     error
}

func (s *privateSession) browse(ctx context.Context) (*pageBrowser, error) {
	toBrowser, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, fromBrowser, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	switches := []string{
		"--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-breakpad",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--password-store=basic",
		"--lang=en", "--window-size=1200,800", "--user-data-dir=" + filepath.Join(s.Home, ".config", "page"),
	}
	if os.Geteuid() == 0 {
		switches = append(switches, "--no-sandbox")
	}
	program, err := s.Start(private.Command{Name: "chromium", Args: append(switches, "about:blank"), Files: []*os.File{toBrowser, fromBrowser}})
	_ = toBrowser.Close() // they belong to the browser
	_ = fromBrowser.Close()
	b := &pageBrowser{program: program, in: in, from: from, out: bufio.NewReader(from)}
	if err != nil {
		_ = in.Close()
		_ = from.Close()
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = program.End() }) // unblocks its readers
	var created struct{ TargetID string }
	var attached struct{ SessionID string }
	_ = json.Unmarshal(b.send("Target.createTarget", map[string]any{"url": "about:blank"}), &created)
	_ = json.Unmarshal(b.send("Target.attachToTarget", map[string]any{"targetId": created.TargetID, "flatten": true}), &attached)
	b.page = attached.SessionID
	return b, b.err
}

func (b *pageBrowser) close() {
	_ = b.program.End()
	_ = b.in.Close()
	_ = b.from.Close()
}

// send sends a command and returns its result.
func (b *pageBrowser) send(method string, params map[string]any) json.RawMessage {
	if b.err != nil {
		return nil
	}
	answer, err := b.ask(method, params)
	if b.err = err; err == nil && answer.Error != nil {
		b.err = aai.Errorf(aai.AutomationFailed, "%s: %s", method, answer.Error.Message)
	}
	return answer.Result
}

// devtoolsResponse is the browser's response to a command.
type devtoolsResponse struct {
	ID     int
	Result json.RawMessage
	Error  *struct{ Message string }
}

// ask sends a command and reads its response; it skips events.
func (b *pageBrowser) ask(method string, params map[string]any) (got devtoolsResponse, err error) {
	b.last++
	message := map[string]any{"id": b.last, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.page != "" {
		message["sessionId"] = b.page
	}
	raw, err := json.Marshal(message)
	if err == nil {
		_, err = b.in.Write(append(raw, 0))
	}
	for err == nil && got.ID != b.last {
		got = devtoolsResponse{}
		if raw, err = b.out.ReadBytes(0); err == nil {
			err = json.Unmarshal(raw[:len(raw)-1], &got)
		}
	}
	return got, err
}

// until waits for a page on which the script is true. An evaluation error means that the page is
// still changing.
func (b *pageBrowser) until(ctx context.Context, script string) {
	if b.err != nil {
		return
	}
	err := waitFor(ctx, func() bool {
		got, err := b.ask("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true})
		if b.err = err; err != nil || got.Error != nil {
			return err != nil
		}
		var value struct{ Result struct{ Value any } }
		return json.Unmarshal(got.Result, &value) == nil && value.Result.Value == true
	})
	if b.err == nil {
		b.err = err
	}
}
