package wayland_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
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

// TestWaylandPortalOfGNOME: the person is asked once; a token of an earlier session needs no question, a revoked one leads
// to a new question, and a denial is not asked again.
func TestWaylandPortalOfGNOME(t *testing.T) {
	if linuxtest.ChosenCompositor() != linuxtest.GNOMEShell {
		return
	}
	s := newSession(t)
	startPortal(t, s, "GNOME", "/usr/libexec/xdg-desktop-portal-gnome", "org.freedesktop.impl.portal.desktop.gnome")
	f := s.Fixture(t, linuxtest.GTK4)
	w := s.inFront(t, f.Title)
	folder, err := filepath.Abs("testdata")
	assert.NilError(t, err)
	press := func(names ...string) {
		go func() {
			s.output(t, "python3", append([]string{filepath.Join(folder, "press.py"), "portal"}, names...)...)
		}()
	}
	tokens := &tokenStore{}
	first, asked := s.newPortalDisplay(t, tokens)
	press("Allow Remote Interaction", "Share")
	if err := first.Key(t.Context(), desktop.PersonSeat, w.ID, desktop.Chord{Key: "tab"}); err != nil && aai.AsError(err).Code != aai.AutomationFailed {
		t.Fatal(err) // the dialog has taken the focus from the window
	}
	assert.Check(t, asked() != 0, "the caller did not get to know of the question")
	assert.Check(t, tokens.token != "", "the token is not kept")
	again, asked := s.newPortalDisplay(t, tokens)
	s.typeInto(t, again, f, "restored")
	assert.Check(t, is.Equal(asked(), 0), "the kept token led to a question")
	for _, token := range []string{"revoked", "01234567-89ab-cdef-0123-456789abcdef"} {
		revoked, asked := s.newPortalDisplay(t, &tokenStore{token: token})
		w = s.inFront(t, f.Title)
		press("Cancel")
		for _, when := range []string{"after the question", "the second time"} {
			err = revoked.Key(t.Context(), desktop.PersonSeat, w.ID, desktop.Chord{Key: "tab"})
			got := aai.AsError(err)
			assert.Check(t, is.Equal(got.Code, aai.PermissionDenied), "%s %s %v", token, when, err)
			assert.Check(t, got.Hint != "", "%s %s %v", token, when, err)
			w = s.inFront(t, f.Title)
		}
		assert.Check(t, is.Equal(asked(), 1), "the token %s led to %d questions", token, asked())
	}
	s.endOfCompositor(t, again, w)
}

// TestWaylandPortalShot: once the person has allowed it, GNOME's portal gives the picture of a window, and no file stays.
func TestWaylandPortalShot(t *testing.T) {
	if linuxtest.ChosenCompositor() != linuxtest.GNOMEShell {
		return
	}
	s := newSession(t)
	startPortal(t, s, "GNOME", "/usr/libexec/xdg-desktop-portal-gnome", "org.freedesktop.impl.portal.desktop.gnome")
	conn, err := dbus.Connect(s.Address)
	assert.NilError(t, err)
	defer func() { _ = conn.Close() }()
	const store = "org.freedesktop.impl.portal.PermissionStore"
	err = conn.Object(store, "/org/freedesktop/impl/portal/PermissionStore").Call(store+".SetPermission", 0,
		"screenshot", true, "screenshot", "", []string{"yes"}).Err
	assert.NilError(t, err)
	until(t, func() bool {
		o, err := s.Offer(t.Context())
		return err == nil && o.Pictures != ""
	})
	f := s.Fixture(t, linuxtest.GTK4)
	w := s.inFront(t, f.Title)
	colours := map[[3]uint32]bool{}
	until(t, func() bool {
		p, err := s.CaptureWindow(t.Context(), w.ID)
		assert.NilError(t, err)
		b := p.Bounds()
		assert.Equal(t, b.Dx(), w.Frame.W, "%v %v", b, w.Frame)
		assert.Equal(t, b.Dy(), w.Frame.H, "%v %v", b, w.Frame)
		for y := range w.Frame.H {
			for x := range w.Frame.W {
				r, g, b, _ := p.At(x, y).RGBA()
				colours[[3]uint32{r, g, b}] = true
			}
		}
		return len(colours) > 20 // a drawn window with text, and not the plain background
	})
	for _, pattern := range []string{"*.png", "*/*.png", "*/*/*.png"} {
		left, err := filepath.Glob(filepath.Join(s.Home, pattern))
		assert.NilError(t, err)
		assert.Check(t, is.Len(left, 0), "files stay: %v", left)
	}
}

// tableFile has the table of compositors, a row for each version.
const tableFile = "../../../../docs/wayland.md"

// TestWaylandTable: the row of the chosen compositor says what it offers. UPDATE_GOLDEN=1 writes the row.
func TestWaylandTable(t *testing.T) {
	s := newSession(t)
	if linuxtest.ChosenCompositor() == linuxtest.GNOMEShell {
		startPortal(t, s, "GNOME", "/usr/libexec/xdg-desktop-portal-gnome", "org.freedesktop.impl.portal.desktop.gnome")
		until(t, func() bool {
			o, err := s.Offer(t.Context())
			return err == nil && o.Pictures != ""
		})
	}
	offer, err := s.Offer(t.Context())
	assert.NilError(t, err)
	cells := []string{offer.Windows, offer.Pictures, offer.Input, offer.Clipboard}
	for i, cell := range cells {
		if cell == "" {
			cells[i] = "no"
		}
	}
	program := string(linuxtest.ChosenCompositor())
	name := program + " " + regexp.MustCompile(`\d+(\.\d+)+`).FindString(s.output(t, program, "--version"))
	row := "| " + name + " | " + strings.Join(cells, " | ") + " |"
	text, err := os.ReadFile(tableFile)
	assert.NilError(t, err)
	old := ""
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| "+name+" |") {
			old = strings.TrimSuffix(line, "\n")
		}
	}
	if old == row {
		return
	}
	assert.Assert(t, os.Getenv("UPDATE_GOLDEN") != "", "the row is %q, the compositor offers %q", old, row)
	next := strings.Replace(string(text), old, row, 1)
	if old == "" {
		const head = "| --- | --- | --- | --- | --- |\n"
		next = strings.Replace(string(text), head, head+row+"\n", 1)
	}
	assert.NilError(t, os.WriteFile(tableFile, []byte(next), 0o644))
}
