package wayland_test

import (
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
