package wayland_test

import (
	"path/filepath"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

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
	if err != nil {
		t.Fatal(err)
	}
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
	if asked() == 0 {
		t.Error("the caller did not get to know of the question")
	}
	if tokens.token == "" {
		t.Error("the token is not kept")
	}
	again, asked := s.newPortalDisplay(t, tokens)
	s.typeInto(t, again, f, "restored")
	if asked() != 0 {
		t.Error("the kept token led to a question")
	}
	for _, token := range []string{"revoked", "01234567-89ab-cdef-0123-456789abcdef"} {
		revoked, asked := s.newPortalDisplay(t, &tokenStore{token: token})
		w = s.inFront(t, f.Title)
		press("Cancel")
		for _, when := range []string{"after the question", "the second time"} {
			err = revoked.Key(t.Context(), desktop.PersonSeat, w.ID, desktop.Chord{Key: "tab"})
			if got := aai.AsError(err); got.Code != aai.PermissionDenied || got.Hint == "" {
				t.Errorf("%s, %s: %v", token, when, err)
			}
			w = s.inFront(t, f.Title)
		}
		if asked() != 1 {
			t.Errorf("the token %s led to %d questions", token, asked())
		}
	}
	s.endOfCompositor(t, again, w)
}
