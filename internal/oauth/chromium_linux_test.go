package oauth_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	command "os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// chromium is a real headless browser, controlled by the DevTools protocol over a pipe
// (--remote-debugging-pipe: JSON, each message ended by NUL).
type chromium struct {
	t    *testing.T
	in   *os.File
	out  *bufio.Reader
	mu   sync.Mutex
	last int
	page string // session of the only page
}

func startChromium(t *testing.T) *chromium {
	t.Helper()
	testkit.Need(t, "chromium")
	toBrowser, in, err := os.Pipe()
	assert.NilError(t, err)
	out, fromBrowser, err := os.Pipe()
	assert.NilError(t, err)
	cmd := command.Command("chromium", "--headless", "--remote-debugging-pipe", "--no-sandbox", "--no-first-run", "--disable-gpu",
		"--disable-dev-shm-usage", "--disable-breakpad", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-extensions", "--user-data-dir="+t.TempDir(), "--password-store=basic", "--lang=en", "--window-size=900,640",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // 3 and 4, as the switch requires
	err = cmd.Start()
	assert.NilError(t, err)
	_ = toBrowser.Close()
	_ = fromBrowser.Close()
	c := &chromium{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		_, _ = c.ask("Browser.close", nil)
		_ = in.Close()
		killed := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		killed.Stop()
		_ = out.Close()
	})
	created, err := c.ask("Target.createTarget", map[string]any{"url": "about:blank"})
	assert.NilError(t, err)
	attached, err := c.ask("Target.attachToTarget", map[string]any{"targetId": created["targetId"], "flatten": true})
	assert.NilError(t, err)
	c.page, _ = attached["sessionId"].(string)
	return c
}

// ask sends one command and reads its response; it skips events.
func (c *chromium) ask(method string, params map[string]any) (map[string]any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	message := map[string]any{"id": c.last, "method": method, "params": params}
	if params == nil {
		message["params"] = map[string]any{}
	}
	if c.page != "" && !strings.HasPrefix(method, "Browser.") {
		message["sessionId"] = c.page
	}
	raw, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(raw, 0)); err != nil {
		return nil, err
	}
	for {
		raw, err := c.out.ReadBytes(0)
		if err != nil {
			return nil, err
		}
		var answer struct {
			ID     int
			Result map[string]any
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(raw[:len(raw)-1], &answer); err != nil {
			return nil, err
		}
		if answer.ID != c.last {
			continue
		}
		if answer.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, answer.Error.Message)
		}
		return answer.Result, nil
	}
}

// eval runs a script in the page, and returns its value. It returns nil while a page loads.
func (c *chromium) eval(script string) any {
	answer, err := c.ask("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true})
	if err != nil {
		return nil
	}
	result, _ := answer["result"].(map[string]any)
	return result["value"]
}

// until waits for a page on which the script is true.
func (c *chromium) until(script string) error {
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		if c.eval(script) == true {
			return nil
		}
	}
	return fmt.Errorf("never was %s; the page is %v: %v", script, c.eval("location.href"), c.eval("document.body.innerText"))
}

// logIn performs the user's login: it opens the page, fills in the form, agrees.
func (c *chromium) logIn(address string) error {
	if _, err := c.ask("Page.navigate", map[string]any{"url": address}); err != nil {
		return err
	}
	if err := c.until(`!!document.querySelector("input[name=password]")`); err != nil {
		return err
	}
	c.eval(`document.querySelector("input[name=login]").value = "somebody";
		document.querySelector("input[name=password]").value = "a password";
		document.querySelector("button[type=submit]").click()`)
	if err := c.until(`!!document.querySelector("form input[value=consent]")`); err != nil {
		return err
	}
	c.eval(`document.querySelector("button[type=submit]").click()`)
	return c.until(`location.port !== "` + portOf(address) + `" && document.readyState === "complete" && !!document.querySelector("h1")`)
}

func portOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host[strings.LastIndex(host, ":")+1:]
}

// TestInARealBrowser runs a login with a real authorization server and a real browser, including
// the last page. AAI_LOGIN_PICTURE names a file for its picture.
func TestInARealBrowser(t *testing.T) {
	browser := startChromium(t)
	ended := make(chan error, 1)
	w := newWorld(t, testkit.OIDCOptions{}, func(w *world, c *loginConfig) {
		c.Browser = func(_ context.Context, address string) error {
			go func() { ended <- browser.logIn(address) }()
			return nil
		}
	})
	if status, err := w.call(t.Context(), w.logins, http.MethodGet); err != nil || status != http.StatusOK {
		t.Errorf("the call gave %d, %v", status, err)
	}
	assert.NilError(t, <-ended)
	host := strings.TrimPrefix(w.api.URL, "http://")
	title := browser.eval("document.title")
	assert.Check(t, is.Equal(title, "You are logged in to "+host), "the last page is %v", title)
	// The style is allowed and applied; the page loads and runs nothing else.
	for script, want := range map[string]any{
		`getComputedStyle(document.querySelector("main")).borderTopColor`:        "rgb(30, 125, 52)",
		`document.scripts.length + document.images.length`:                       0.0,
		`document.documentElement.scrollWidth <= innerWidth`:                     true,
		`document.querySelector("main").innerText.includes("close this window")`: true,
	} {
		assert.Check(t, is.Equal(browser.eval(script), want), script)
	}
	shot, err := browser.ask("Page.captureScreenshot", nil)
	assert.NilError(t, err)
	picture, err := base64.StdEncoding.DecodeString(shot["data"].(string))
	assert.NilError(t, err, "%d", len(picture))
	assert.Assert(t, len(picture) >= 1000, "the picture has %d bytes, %v", len(picture), err)
	if file := os.Getenv("AAI_LOGIN_PICTURE"); file != "" {
		assert.Check(t, os.WriteFile(file, picture, 0o600))
	}
}
