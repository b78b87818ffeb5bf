//go:build linux

package x11_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"aai/internal/desktop"
	"aai/internal/desktop/linuxtest"
	"aai/internal/desktop/x11"
	"aai/internal/seat"
)

// typing says of this program that it is another gateway: what it types, and where.
const typing = "X11_TEST_TYPES"

func TestMain(m *testing.M) {
	if what := os.Getenv(typing); what != "" {
		fmt.Println(typeAndEnd(what))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// typeAndEnd types the text into the window, says so, and ends the gateway when it is told.
func typeAndEnd(what string) error {
	window, text, _ := strings.Cut(what, " ")
	n, err := strconv.ParseUint(window, 10, 32)
	if err != nil {
		return err
	}
	d := x11.New(x11.Config{Getenv: os.Getenv, Seat: sharedSeat(os.Getenv)})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	fmt.Println(d.Type(ctx, desktop.PersonSeat, desktop.WindowID(n), text))
	_, _ = io.Copy(io.Discard, os.Stdin)
	return d.Close()
}

func sharedSeat(getenv func(string) string) *seat.Seat {
	return seat.New(seat.Config{Folder: seat.Folder, Getenv: getenv})
}

// A gateway is one in a process of its own.
type gateway struct {
	in  io.Closer
	out *bufio.Reader
}

// types starts a gateway that types. It has typed when this returns.
func types(t *testing.T, s *linuxtest.Session, w desktop.WindowID, text string) *gateway {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(s.Env, fmt.Sprintf("%s=%d %s", typing, w, text))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	g := &gateway{in: in, out: bufio.NewReader(out)}
	g.says(t, "<nil>\n")
	return g
}

func (g *gateway) says(t *testing.T, want string) {
	t.Helper()
	if line, err := g.out.ReadString('\n'); err != nil || line != want {
		t.Fatalf("the other gateway says %q, %v", line, err)
	}
}

// end ends the gateway as it should be.
func (g *gateway) end(t *testing.T) {
	t.Helper()
	_ = g.in.Close()
	g.says(t, "<nil>\n")
}

// TestLocksThatAreGivenBack: a gateway that typed while Caps Lock was on leaves nothing
// for the next one to lock, when the person has long let go of it.
func TestLocksThatAreGivenBack(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	f := s.Fixture(t, linuxtest.GTK3)
	w := id(t, f)
	f.Press(t, "Full name")
	typed := ""
	arrives := func(text string) {
		t.Helper()
		typed += text
		f.WaitState(t, "name", typed)
	}
	for _, text := range []string{"aB", "keys on loan: я"} {
		tool(t, s, nil, "xdotool", "key", "Caps_Lock")
		g := types(t, s, w, text)
		arrives(text)
		g.end(t)
		tool(t, s, nil, "xdotool", "key", "Caps_Lock")
		if err := open(t, s).Type(soon(t), desktop.OwnSeat, w, "c"); err != nil {
			t.Fatal(err)
		}
		arrives("c")
		tool(t, s, nil, "xdotool", "type", "person")
		arrives("person")
	}
}
