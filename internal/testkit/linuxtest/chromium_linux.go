package linuxtest

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"testing"
)

// startChromium starts Chromium with the fixture's page and nothing around it. The page
// tells its state to a server on the loopback interface, which writes the file
// that the other fixtures write themselves.
func (s *Session) startChromium(t testing.TB, title, file string, rows int) *App {
	t.Helper()
	pages, err := fs.Sub(programs, "programs")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(pages))
	mux.HandleFunc("POST /state", func(w http.ResponseWriter, r *http.Request) {
		err := save(file, r.Body)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			// The browser was ended in the middle of telling. Nothing is saved, so
			// a test that waits for this state still fails.
			t.Logf("the state of %s was cut off: %v", title, err)
		} else if err != nil {
			t.Errorf("the state of %s: %v", title, err)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /fault", func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		t.Errorf("the page of %s: %s %v", title, text, err)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	page := server.URL + "/page.html?" + url.Values{"title": {title}, "rows": {strconv.Itoa(rows)}}.Encode()
	return s.Launch(t, "chromium", append(chromiumSwitches(s.Path("tmp", title)), "--window-size=700,600", "--app="+page)...)
}

// chromiumSwitches are those of a Chromium for tests: visible to assistive
// technology from the start, working while it is covered, silent on the network,
// and, as root, without its sandbox.
func chromiumSwitches(profile string) []string {
	return []string{
		"--force-renderer-accessibility",
		"--disable-backgrounding-occluded-windows",
		"--disable-features=CalculateNativeWinOcclusion,Translate,MediaRouter,OptimizationHints",
		"--no-sandbox", "--no-first-run", "--no-default-browser-check", "--test-type",
		"--user-data-dir=" + profile, "--password-store=basic", "--lang=en",
		"--disable-gpu", "--disable-dev-shm-usage", "--disable-breakpad",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
	}
}

// save writes a file that appears whole.
func save(file string, content io.Reader) error {
	b, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// Browser opens the page in a Chromium with its own frame around it: tabs, address,
// buttons.
func (s *Session) Browser(t testing.TB, page string) *App {
	t.Helper()
	return s.Launch(t, "chromium", append(chromiumSwitches(s.Path("tmp", s.nextTitle("browser"))), "--window-size=900,700", page)...)
}
