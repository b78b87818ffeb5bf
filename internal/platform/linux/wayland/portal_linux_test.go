package wayland_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	linuxsession "github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A tokenStore keeps a token in memory.
type tokenStore struct {
	mu    sync.Mutex
	token string
}

func (s *tokenStore) LoadToken(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token, nil
}

func (s *tokenStore) SaveToken(_ context.Context, token string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
	return nil
}

// startPortal starts the desktop portal with the part of a desktop.
func startPortal(t *testing.T, s *session, desktopName, part, partName string) {
	t.Helper()
	conn, err := dbus.Connect(s.Address)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	await := func(name string) {
		until(t, func() bool {
			var owned bool
			err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&owned)
			return err == nil && owned
		})
	}
	env := []string{"XDG_CURRENT_DESKTOP=" + desktopName}
	s.LaunchEnv(t, env, part)
	await(partName)
	s.LaunchEnv(t, env, "/usr/libexec/xdg-desktop-portal", "-r")
	await("org.freedesktop.portal.Desktop")
}

// newPortalDisplay connects to a session as if it was a person's. asked counts the reports of a question.
func (s *session) newPortalDisplay(t *testing.T, tokens wayland.TokenStore) (d *wayland.Display, asked func() int) {
	t.Helper()
	var mu sync.Mutex
	n := 0
	d = wayland.New(wayland.Config{
		Getenv: func(name string) string {
			if name == linuxsession.PrivateMark {
				return ""
			}
			return s.Getenv(name)
		},
		InputLock: s.lock, Tokens: tokens,
		Progress: func(_ context.Context, message string) {
			if !strings.Contains(message, "Allow Remote Interaction") || !strings.Contains(message, "Approve") {
				t.Errorf("the progress does not say what the person sees: %q", message)
			}
			mu.Lock()
			defer mu.Unlock()
			n++
		},
	})
	t.Cleanup(func() { _ = d.Close() })
	return d, func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// typeInto types into the name field of a fixture.
func (s *session) typeInto(t *testing.T, d *wayland.Display, f *linuxtest.Fixture, text string) {
	t.Helper()
	w := s.inFront(t, f.Title)
	s.clickField(t, d, f, w, "Full name")
	assert.NilError(t, d.Type(t.Context(), desktop.PersonSeat, w.ID, text))
	f.WaitState(t, "name", text)
}

// endOfCompositor: input after the compositor's end fails, and says so.
func (s *session) endOfCompositor(t *testing.T, d *wayland.Display, w desktop.WindowInfo) {
	t.Helper()
	s.Compositor().Kill(t)
	assert.Check(t, d.Type(t.Context(), desktop.PersonSeat, w.ID, "nothing") != nil, "text was typed without a compositor")
}

// TestWaylandPortalOfKDE: KDE's part of Debian 13 shows no question without Plasma, and denies it at once; it agrees to programs
// that its store of permissions names.
func TestWaylandPortalOfKDE(t *testing.T) {
	if linuxtest.ChosenCompositor() != linuxtest.KWin {
		return
	}
	s := newSession(t, "KWIN_WAYLAND_NO_PERMISSION_CHECKS=1") // which a desktop file grants to KDE's part in Plasma
	startPortal(t, s, "KDE", "/usr/lib/x86_64-linux-gnu/libexec/xdg-desktop-portal-kde", "org.freedesktop.impl.portal.desktop.kde")
	f := s.Fixture(t, linuxtest.GTK4)
	w := s.inFront(t, f.Title)
	denied, _ := s.newPortalDisplay(t, &tokenStore{})
	err := denied.Key(t.Context(), desktop.PersonSeat, w.ID, desktop.Chord{Key: "tab"})
	got := aai.AsError(err)
	assert.Check(t, is.Equal(got.Code, aai.AutomationNotSupported), err)
	assert.Check(t, got.Hint != "", "after a denial before anyone could answer: %v", err)
	conn, err := dbus.Connect(s.Address)
	assert.NilError(t, err)
	defer func() { _ = conn.Close() }()
	const store = "org.freedesktop.impl.portal.PermissionStore"
	err = conn.Object(store, "/org/freedesktop/impl/portal/PermissionStore").Call(store+".SetPermission", 0,
		"kde-authorized", true, "remote-desktop", "", []string{"yes"}).Err
	assert.NilError(t, err)
	allowed, _ := s.newPortalDisplay(t, &tokenStore{})
	s.typeInto(t, allowed, f, "allowed")
	s.endOfCompositor(t, allowed, w)
}
