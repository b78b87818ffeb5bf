//go:build linux

package x11_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
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
	d := x11.New(x11.Config{Getenv: os.Getenv, InputLock: sharedInputLock(os.Getenv)})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	fmt.Println(d.Type(ctx, desktop.PersonSeat, desktop.WindowID(n), text))
	_, _ = io.Copy(io.Discard, os.Stdin)
	return d.Close()
}

func sharedInputLock(getenv func(string) string) *inputlock.Lock {
	return inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: getenv})
}

// A gateway is one in a process of its own.
type gateway struct{ *testkit.Process }

// types starts a gateway that types. It has typed when this returns.
func types(t *testing.T, s *linuxtest.Session, w desktop.WindowID, text string) gateway {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(s.Env, fmt.Sprintf("%s=%d %s", typing, w, text))
	g := gateway{testkit.StartProcess(t, cmd)}
	t.Cleanup(func() { _ = g.Close() })
	g.does(t)
	return g
}

// does waits until it has done what it is for, without an error.
func (g gateway) does(t *testing.T) {
	t.Helper()
	if err := g.ReadLine(t); err != "<nil>" {
		t.Fatalf("the other gateway says %q", err)
	}
}

// end ends the gateway as it should be.
func (g gateway) end(t *testing.T) {
	t.Helper()
	_ = g.In.Close()
	g.does(t)
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
