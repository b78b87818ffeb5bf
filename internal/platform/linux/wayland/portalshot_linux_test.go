package wayland_test

import (
	"path/filepath"
	"testing"

	"github.com/godbus/dbus/v5"

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
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	const store = "org.freedesktop.impl.portal.PermissionStore"
	err = conn.Object(store, "/org/freedesktop/impl/portal/PermissionStore").Call(store+".SetPermission", 0,
		"screenshot", true, "screenshot", "", []string{"yes"}).Err
	if err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		o, err := s.Offer(t.Context())
		return err == nil && o.Pictures != ""
	})
	f := s.Fixture(t, linuxtest.GTK4)
	w := s.inFront(t, f.Title)
	colours := map[[3]uint32]bool{}
	until(t, func() bool {
		p, err := s.CaptureWindow(t.Context(), w.ID)
		if err != nil {
			t.Fatal(err)
		}
		if b := p.Bounds(); b.Dx() != w.Frame.W || b.Dy() != w.Frame.H {
			t.Fatalf("the picture is %v, the window %v", b, w.Frame)
		}
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
		if err != nil {
			t.Fatal(err)
		}
		if len(left) > 0 {
			t.Errorf("files stay: %v", left)
		}
	}
}
