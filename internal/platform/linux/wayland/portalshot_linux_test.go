package wayland_test

import (
	"path/filepath"
	"testing"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

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
