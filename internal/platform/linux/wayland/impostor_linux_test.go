package wayland

import (
	"context"
	"testing"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// newTestDisplay connects to a session of the chosen compositor.
func newTestDisplay(t *testing.T) (*linuxtest.Session, *Display, *conn) {
	t.Helper()
	s := linuxtest.StartWayland(t, linuxtest.ChosenCompositor())
	d := New(Config{Getenv: s.Getenv})
	t.Cleanup(func() { _ = d.Close() })
	c, err := d.connect(t.Context())
	assert.NilError(t, err)
	return s, d, c
}

// program connects another program of the session to the bus.
func program(t *testing.T, address string) *dbus.Conn {
	t.Helper()
	conn, err := dbus.Connect(address)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestWaylandImpostor: a program that takes the name of KWin, or of the extension, is not believed.
func TestWaylandImpostor(t *testing.T) {
	s, d, c := newTestDisplay(t)
	impostor := program(t, s.Address)
	for name, find := range map[string]func(context.Context, *conn) (manager, error){kwinName: d.findKWin, gnomeName: d.findGNOME} {
		reply, err := impostor.RequestName(name, dbus.NameFlagReplaceExisting)
		assert.NilError(t, err)
		found, err := find(t.Context(), c)
		assert.NilError(t, err)
		real := name == kwinName && linuxtest.ChosenCompositor() == linuxtest.KWin
		assert.Check(t, (reply == dbus.RequestNameReplyPrimaryOwner) != real, "the request for %s was answered with %d", name, reply)
		assert.Check(t, is.Equal((found != nil), real), "%s %v", name, found)
	}
}

// TestWaylandForgedAnswer: an answer counts only from the connection that was asked, and once.
func TestWaylandForgedAnswer(t *testing.T) {
	s, d, _ := newTestDisplay(t)
	conn, err := d.bus.connect(t.Context(), d.config.Getenv)
	assert.NilError(t, err)
	asked, forger := program(t, s.Address), program(t, s.Address)
	answer, done := d.bus.answers.expect("token", asked.Names()[0])
	defer done()
	give := func(from *dbus.Conn, token, text string) error {
		return from.Object(conn.Name(), "/").Call(answerInterface+"."+answerMember, 0, token, text).Err
	}
	assert.Check(t, give(forger, "token", "forged") != nil, "the forged answer was taken")
	assert.Check(t, give(asked, "other", "of another question") != nil, "the answer with another token was taken")
	assert.Check(t, give(asked, "token", "true"))
	assert.Check(t, is.Equal(<-answer, "true"))
	assert.Check(t, give(asked, "token", "second") != nil, "a second answer was taken")
}
