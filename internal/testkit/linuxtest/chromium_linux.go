package linuxtest

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// startChromium starts Chromium with the fixture's page in app mode. The page sends its state to a server
// on the loopback interface, which writes the same file as the other fixtures.
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
			// The browser ended while it sent the state. Nothing is saved, so a test that waits for this
			// state still fails.
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
	return s.Launch(t, "chromium", append(s.chromiumSwitches(s.Path("tmp", title)), "--window-size=700,600", "--app="+page)...)
}

// chromiumSwitches returns the switches for a test Chromium: accessible from the start, working while
// covered, without network traffic, and without its sandbox for root.
func (s *Session) chromiumSwitches(profile string) []string {
	platform := "x11"
	if s.compositor != "" {
		platform = "wayland"
	}
	return []string{
		"--ozone-platform=" + platform,
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

// save writes a file atomically.
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

// Browser opens the page in a Chromium with its own frame: tabs, address, buttons. It keeps no
// passwords, so no page makes it ask. It gets the further switches.
func (s *Session) Browser(t testing.TB, page string, switches ...string) *App {
	t.Helper()
	profile := s.Path("tmp", s.nextTitle("browser"))
	if err := os.MkdirAll(filepath.Join(profile, "Default"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(profile, "Default", "Preferences"), []byte(`{"credentials_enable_service": false}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.Launch(t, "chromium", append(append(s.chromiumSwitches(profile), switches...), "--window-size=900,700", page)...)
}
