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

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// typing makes the test binary another gateway, with the text and the window.
const typing = "X11_TEST_TYPES"

func TestMain(m *testing.M) {
	if what := os.Getenv(typing); what != "" {
		fmt.Println(typeAndEnd(what))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// typeAndEnd types the text into the window, reports it, and closes the gateway on demand.
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

// A gateway is a gateway in another process.
type gateway struct{ *testkit.Process }

// types starts a gateway that types, and returns when it has typed.
func types(t *testing.T, s *linuxtest.Session, w desktop.WindowID, text string) gateway {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(s.Env, fmt.Sprintf("%s=%d %s", typing, w, text))
	g := gateway{testkit.StartProcess(t, cmd)}
	t.Cleanup(func() { _ = g.Close() })
	g.does(t)
	return g
}

// does waits until it has done its work without an error.
func (g gateway) does(t *testing.T) {
	t.Helper()
	err := g.ReadLine(t)
	assert.Equal(t, err, "<nil>", "the other gateway says %q", err)
}

// end closes the gateway regularly.
func (g gateway) end(t *testing.T) {
	t.Helper()
	_ = g.In.Close()
	g.does(t)
}

// TestLocksThatAreGivenBack checks that a gateway that typed during Caps Lock leaves no
// record for the next one to lock, after the person has turned it off.
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
		assert.NilError(t, open(t, s).Type(soon(t), desktop.OwnSeat, w, "c"))
		arrives("c")
		tool(t, s, nil, "xdotool", "type", "person")
		arrives("person")
	}
}
