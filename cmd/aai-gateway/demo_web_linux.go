package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"aai"
)

// trustErrands makes the demo's home one whose owner trusts sites on this computer,
// and has a place for the key of secrets: nobody sits at this session who would open
// a keychain.
func (s *session) trustErrands() error {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // crypto/rand never fails
	file := filepath.Join(s.home, "key")
	if err := os.WriteFile(file, key, 0o600); err != nil {
		return err
	}
	s.env = append(s.env, "AAI_MASTER_KEY_FILE="+file)
	config, err := json.Marshal(map[string]any{
		// The agent's client may ask for what can be changed back; nobody sits at this
		// screen to answer a dialog.
		"consent": map[string]any{"dialog": "off", "elicitation": []string{"demo-agent"}},
		"dev":     true, // the site is a server of this computer, over http
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.home, ".aai", "config.json"), config, 0o600)
}

// web finds a web app that nobody installed, and uses it. The person logs in, in a
// browser of their own. What is on the site's list proves it.
func (a *agent) web(s *session, site *errandSite) func(context.Context) error {
	return func(ctx context.Context) error {
		if !hasBrowser() {
			a.line("·", "Chromium is not installed here, or only as a snap; the web app that wants a login is left out")
			return nil
		}
		a.title("A web app that nobody installed: found by its address, and logged in to")
		found, err := a.call(ctx, "web_discover", map[string]any{"url": site.address}, beginning)
		if err == nil && found.IsError {
			err = aai.Errorf(aai.AutomationFailed, "the site was not found")
		}
		if err != nil {
			return err
		}
		loggedIn := make(chan error, 1)
		go func() { loggedIn <- s.logIn(ctx) }()
		if err := a.exec(ctx, site.address, "list_errands", nil); err != nil {
			return err
		}
		if err := <-loggedIn; err != nil {
			return err
		}
		a.line("·", "the person was asked by the site, in Chromium, and pressed Allow (as the demo, by xdotool)")
		const errand = "Water the plants"
		if err := a.exec(ctx, site.address, "add_errand", map[string]any{"what": errand}); err != nil {
			return err
		}
		list := site.onTheList()
		if !slices.Contains(list, errand) {
			return aai.Errorf(aai.AutomationFailed, "the site's list is %q, without the errand", list)
		}
		a.line("✓", fmt.Sprintf("on the list, as the site itself says: %q", list))
		return nil
	}
}

// logIn is what the person does when the browser asks: they look at the page, and
// press the button that has the keyboard, Allow.
func (s *session) logIn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	for {
		if _, err := s.output(ctx, "xdotool", "search", "--name", "^Errands: log in", "windowactivate", "--sync", "key", "--clearmodifiers", "Return"); err == nil {
			if page := s.loggedIn(ctx); page {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return aai.Errorf(aai.AutomationFailed, "the page where the person logs in did not open: %w", ctx.Err())
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// loggedIn reports whether the page that asks has gone.
func (s *session) loggedIn(ctx context.Context) bool {
	for range 10 {
		if _, err := s.output(ctx, "xdotool", "search", "--name", "^Errands: log in"); err != nil {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(200 * time.Millisecond):
		}
	}
	return false
}
