package demo

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/sampleapp"
)

// Files in the demo's home, for its logins.
const (
	masterKey  = "key"
	noKeychain = ".local/share/dbus-1/services/org.freedesktop.secrets.service"
)

// keyFiles returns the key file for secrets, as for a headless run. It disables the keychain,
// which would ask for a password.
func keyFiles() map[string][]byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // crypto/rand never fails
	return map[string][]byte{
		masterKey:  key,
		noKeychain: []byte("[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/bin/false\n"),
	}
}

// web finds an uninstalled web app and uses it. The user logs in, in their own browser. The site's
// list is the proof.
func (a *agent) web(s *privateSession, site *sampleapp.App) func(context.Context) error {
	return func(ctx context.Context) error {
		if !hasBrowser() {
			a.line("·", "Chromium is not installed here, or only as a snap; the web app with a login is skipped")
			return nil
		}
		a.title("A web app without installation: found by its address, and logged in to")
		found, err := a.call(ctx, "web_discover", map[string]any{"url": site.Address}, firstLines)
		if err == nil && found.IsError {
			err = aai.Errorf(aai.AutomationFailed, "the site was not found")
		}
		if err != nil {
			return err
		}
		loggedIn := make(chan error, 1)
		go func() { loggedIn <- s.logIn(ctx) }()
		if err := a.execWhen(ctx, site.Address, "list_errands", loggedIn); err != nil {
			return err
		}
		a.line("·", "the person was asked by the site, in Chromium, and pressed Allow (as the demo, by xdotool)")
		const errand = "Water the plants"
		if err := a.exec(ctx, site.Address, "add_errand", map[string]any{"what": errand}); err != nil {
			return err
		}
		list := site.List()
		if !slices.Contains(list, errand) {
			return aai.Errorf(aai.AutomationFailed, "the site's list is %q, without the errand", list)
		}
		a.line("✓", fmt.Sprintf("on the list, according to the site: %q", list))
		return nil
	}
}

// execWhen runs a tool that needs a login. If the login takes longer than the call, the agent
// repeats the call.
func (a *agent) execWhen(ctx context.Context, app, tool string, loggedIn <-chan error) error {
	call := map[string]any{"app": app, "tool": tool}
	result, err := a.call(ctx, "aai_exec", call, fullText)
	if err != nil {
		return err
	}
	if err := <-loggedIn; err != nil {
		return err
	}
	if !result.IsError {
		return nil
	}
	return a.exec(ctx, app, tool, nil)
}

// logIn performs the user's login in the browser: it presses the focused button, Allow.
func (s *privateSession) logIn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for {
		if _, err := s.output(ctx, "xdotool", "search", "--name", "^Errands: log in", "windowactivate", "sleep", "0.5", "key", "Return"); err == nil && s.loggedIn(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return aai.Errorf(aai.AutomationFailed, "the page where the person logs in did not open: %w", ctx.Err())
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// loggedIn reports whether the login page has closed.
func (s *privateSession) loggedIn(ctx context.Context) bool {
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
