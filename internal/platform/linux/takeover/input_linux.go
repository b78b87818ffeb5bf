package takeover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
)

const inputParams = `{"type": "object", "additionalProperties": false, "required": ["id"], "properties": {` + idParam + `,
	"x": {"type": "integer", "minimum": 0, "maximum": 16384, "description": "The point of a click, in pixels of the session's screen"},
	"y": {"type": "integer", "minimum": 0, "maximum": 16384},
	"button": {"enum": ["left", "middle", "right"], "default": "left"},
	"count": {"type": "integer", "minimum": 1, "maximum": 3, "default": 1, "description": "2 for a double click"},
	"text": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "Text to type; it is not recorded"},
	"key": {"type": "string", "minLength": 1, "maxLength": 20, "description": "A key to press, such as return or f5"},
	"modifiers": {"type": "array", "maxItems": 4, "items": {"enum": ["ctrl", "shift", "alt", "meta"]}}},
	"oneOf": [{"required": ["x", "y"]}, {"required": ["text"]}, {"required": ["key"]}]}`

// sendInput makes one input in a session that the person has taken over. It waits for input of the agent that has begun.
func (r *Relay) sendInput(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	s, err := sessionOf(call)
	if err != nil {
		return nil, err
	}
	if !private.IsTaken(s.Folder) {
		e := refuse(aai.PermissionDenied, "the session is not taken over, and its agent may act at the same time")
		e.Hint = "Take it over first."
		return nil, e
	}
	if !s.Options.Wayland {
		if err := x11.CheckAccess(ctx, s.Getenv, func(server net.Conn) error { return checkServer(server, s.Mark()) }); err != nil {
			return nil, refuse(aai.AutomationFailed, "the session's screen cannot be reached: %w", err)
		}
	}
	screen, release := r.screens.hold(s)
	defer release()
	return &aai.Result{}, relay(ctx, screen, call.Args)
}

// checkServer returns an error unless the X server is a program of the session with the mark: its display may be that of
// another server by now, even the person's.
func checkServer(server net.Conn, mark string) error {
	unix, ok := server.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("expected a local X server, got one at %s", server.RemoteAddr())
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil || failed != nil {
		return fmt.Errorf("the X server cannot be identified: %w", errors.Join(err, failed))
	}
	if int(peer.Uid) != os.Geteuid() {
		return errors.New("the X server is of another account")
	}
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(int(peer.Pid)) + "/environ")
	if err != nil || !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+mark+"\x00")) {
		return errors.New("the X server is not that of the session")
	}
	return nil
}

// relay makes the input of the arguments on the screen.
func relay(ctx context.Context, screen screen, args map[string]any) error {
	number := func(name string, otherwise int) int {
		n, err := strconv.Atoi(fmt.Sprint(args[name]))
		if err != nil {
			return otherwise
		}
		return n
	}
	if args["x"] != nil {
		button := map[any]desktop.MouseButton{"middle": desktop.MiddleButton, "right": desktop.RightButton}[args["button"]]
		return screen.ClickAt(ctx, desktop.Point{X: number("x", 0), Y: number("y", 0)}, max(button, desktop.LeftButton), number("count", 1))
	}
	window, err := screen.FocusedWindow(ctx)
	if err != nil {
		return err
	}
	if text, ok := args["text"].(string); ok {
		return screen.Type(ctx, desktop.PersonSeat, window, text)
	}
	chord := desktop.Chord{}
	chord.Key, _ = args["key"].(string)
	modifiers, _ := args["modifiers"].([]any)
	for _, m := range modifiers {
		chord.Modifiers = append(chord.Modifiers, fmt.Sprint(m))
	}
	return screen.Key(ctx, desktop.PersonSeat, window, chord)
}
