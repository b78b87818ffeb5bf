package wayland

import (
	"context"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// newTestDisplay connects to a session of the chosen compositor.
func newTestDisplay(t *testing.T) (*linuxtest.Session, *Display, *conn) {
	t.Helper()
	s := linuxtest.StartWayland(t, linuxtest.ChosenCompositor())
	d := New(Config{Getenv: s.Getenv})
	t.Cleanup(func() { _ = d.Close() })
	c, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, d, c
}

// program connects another program of the session to the bus.
func program(t *testing.T, address string) *dbus.Conn {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestWaylandImpostor: a program that takes the name of KWin, or of the extension, is not believed.
func TestWaylandImpostor(t *testing.T) {
	s, d, c := newTestDisplay(t)
	impostor := program(t, s.Address)
	for name, find := range map[string]func(context.Context, *conn) (manager, error){kwinName: d.findKWin, gnomeName: d.findGNOME} {
		reply, err := impostor.RequestName(name, dbus.NameFlagReplaceExisting)
		if err != nil {
			t.Fatal(err)
		}
		found, err := find(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		real := name == kwinName && linuxtest.ChosenCompositor() == linuxtest.KWin
		if took := reply == dbus.RequestNameReplyPrimaryOwner; took == real {
			t.Errorf("the request for %s was answered with %d", name, reply)
		}
		if (found != nil) != real {
			t.Errorf("of %s was found %v", name, found)
		}
	}
}

// TestWaylandForgedAnswer: an answer counts only from the connection that was asked, and once.
func TestWaylandForgedAnswer(t *testing.T) {
	s, d, _ := newTestDisplay(t)
	conn, err := d.bus.connect(t.Context(), d.config.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	asked, forger := program(t, s.Address), program(t, s.Address)
	answer, done := d.bus.answers.expect("token", asked.Names()[0])
	defer done()
	give := func(from *dbus.Conn, token, text string) error {
		return from.Object(conn.Name(), "/").Call(answerInterface+"."+answerMember, 0, token, text).Err
	}
	if give(forger, "token", "forged") == nil {
		t.Error("the forged answer was taken")
	}
	if give(asked, "other", "of another question") == nil {
		t.Error("the answer with another token was taken")
	}
	if err := give(asked, "token", "true"); err != nil {
		t.Error(err)
	}
	if got := <-answer; got != "true" {
		t.Errorf("the answer is %q", got)
	}
	if give(asked, "token", "second") == nil {
		t.Error("a second answer was taken")
	}
}
