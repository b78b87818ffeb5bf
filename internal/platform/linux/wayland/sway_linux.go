package wayland

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// A manager lists and manages windows by the compositor's own interface.
type manager interface {
	// name names the way to the windows, for people.
	name() string
	// list returns the windows that the person can see or bring back, front one first.
	list(ctx context.Context) ([]window, error)
	activate(ctx context.Context, id desktop.WindowID) error
	manage(ctx context.Context, id desktop.WindowID, wish desktop.WindowRequest) error
}

// A window is a window that may be on another workspace.
type window struct {
	desktop.WindowInfo
	shown bool // on a visible workspace
	// outer is the rectangle that takes the pointer, with decorations and shadows; the pointer may pass through some of it.
	outer desktop.Rect
	popup bool // a menu or a list of a program, which counts only for what lies over a point
}

// windowGone returns the error for the number of a window that is closed.
func windowGone() error {
	e := refused(aai.AutomationFailed, "the window is not there any more")
	e.Hint = "List the windows again."
	return e
}

// A sway is the IPC of sway, by its manual sway-ipc(7); i3's is the same.
type sway struct{ path string }

// swaySocket returns the socket of the compositor's IPC; "" if it has none. The process behind the connection names
// it, since an environment may be that of an earlier session.
func (c *conn) swaySocket(getenv func(string) string) string {
	peer := c.peer()
	if peer == nil {
		return ""
	}
	own := fmt.Sprintf("sway-ipc.%d.%d.sock", peer.Uid, peer.Pid)
	for _, path := range []string{filepath.Join(getenv("XDG_RUNTIME_DIR"), own), getenv("SWAYSOCK")} {
		if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
			return path
		}
	}
	return ""
}

// peer returns the process that made the compositor's socket; nil if it is unknown.
func (c *conn) peer() (peer *unix.Ucred) {
	raw, err := c.socket.SyscallConn()
	if err != nil {
		return nil
	}
	err = raw.Control(func(fd uintptr) { peer, _ = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err != nil {
		return nil
	}
	return peer
}

// The types of IPC messages, and the limit for an answer in bytes.
const (
	swayCommand  = 0
	swayTree     = 4
	maxSwayReply = 16 << 20
)

// swayMagic begins each message.
const swayMagic = "i3-ipc"

// ask sends one message and returns the answer.
func (s *sway) ask(ctx context.Context, kind uint32, payload string) (reply []byte, err error) {
	defer func() {
		if err != nil && ctx.Err() != nil { // it closed the socket
			err = ctx.Err()
		}
	}()
	socket, err := new(net.Dialer).DialContext(ctx, "unix", s.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = socket.Close() }()
	until := time.Now().Add(patience)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(until) {
		until = deadline
	}
	_ = socket.SetDeadline(until)
	defer context.AfterFunc(ctx, func() { _ = socket.Close() })()
	if err := writeSway(socket, kind, payload); err != nil {
		return nil, err
	}
	return readSway(socket)
}

// writeSway sends a message.
func writeSway(w io.Writer, kind uint32, payload string) error {
	message := binary.NativeEndian.AppendUint32([]byte(swayMagic), uint32(len(payload)))
	_, err := w.Write(append(binary.NativeEndian.AppendUint32(message, kind), payload...))
	return err
}

// readSway reads an answer or an event.
func readSway(r io.Reader) ([]byte, error) {
	head := make([]byte, len(swayMagic)+8)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	size := binary.NativeEndian.Uint32(head[len(swayMagic):])
	if string(head[:len(swayMagic)]) != swayMagic || size > maxSwayReply {
		return nil, errors.New("the answer of sway has another form")
	}
	reply := make([]byte, size)
	_, err := io.ReadFull(r, reply)
	return reply, err
}

// A swayNode is a container of sway's tree.
type swayNode struct {
	ID       int64      `json:"id"`
	Kind     string     `json:"type"`
	Name     string     `json:"name"`
	PID      int        `json:"pid"`
	AppID    string     `json:"app_id"`
	Rect     swayRect   `json:"rect"`
	Window   swayRect   `json:"window_rect"` // of the content, in Rect
	Title    swayRect   `json:"deco_rect"`   // of the title, above Rect
	Natural  swayRect   `json:"geometry"`    // of the size that the program chose
	Focused  bool       `json:"focused"`
	Visible  bool       `json:"visible"`
	Nodes    []swayNode `json:"nodes"`
	Floating []swayNode `json:"floating_nodes"`
	Focus    []int64    `json:"focus"` // the children, the last focused first
	Class    struct {
		Class string `json:"class"`
	} `json:"window_properties"` // of a window of XWayland
	Fullscreen int `json:"fullscreen_mode"`
}

type swayRect struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"width"`
	H int `json:"height"`
}

func (r swayRect) rect() desktop.Rect { return desktop.Rect{X: r.X, Y: r.Y, W: r.W, H: r.H} }

func (s *sway) name() string { return "the IPC of sway" }

// tree returns the root of sway's tree.
func (s *sway) tree(ctx context.Context) (root swayNode, err error) {
	reply, err := s.ask(ctx, swayTree, "")
	if err != nil {
		return root, err
	}
	if err := json.Unmarshal(reply, &root); err != nil {
		return root, fmt.Errorf("the tree of sway has another form: %w", err)
	}
	return root, nil
}

// isLocked implements layerReader. The last focused window or workspace has the focus, unless a screen lock or a layer
// took it.
func (s *sway) isLocked(ctx context.Context) (bool, error) {
	root, err := s.tree(ctx)
	return err == nil && !root.hasFocus(), err
}

// hasFocus reports whether the container or one below it has the focus.
func (n *swayNode) hasFocus() bool {
	below := func(c swayNode) bool { return c.hasFocus() }
	return n.Focused || slices.ContainsFunc(n.Nodes, below) || slices.ContainsFunc(n.Floating, below)
}

// list implements manager. Floating windows lie over tiled ones, the last focused one over the others.
func (s *sway) list(ctx context.Context) ([]window, error) {
	root, err := s.tree(ctx)
	if err != nil {
		return nil, err
	}
	var floating, tiled []window
	root.collect(&floating, &tiled, false)
	all := slices.Concat(floating, tiled)
	cover(all)
	return all, nil
}

// collect adds the windows below a container, the last focused first.
func (n *swayNode) collect(floating, tiled *[]window, floats bool) {
	if n.PID != 0 && len(n.Nodes) == 0 {
		frame := n.Rect.rect()
		if n.Window.W > 0 && n.Window.H > 0 {
			frame = desktop.Rect{X: n.Rect.X + n.Window.X, Y: n.Rect.Y + n.Window.Y, W: n.Window.W, H: n.Window.H}
		}
		into := tiled
		if floats || n.Fullscreen != 0 {
			into = floating
		}
		*into = append(*into, window{WindowInfo: desktop.WindowInfo{
			ID: desktop.WindowID(n.ID), PID: n.PID, Title: aai.CleanLabel(n.Name, maxTitle),
			Class: aai.CleanLabel(cmp.Or(n.AppID, n.Class.Class), maxTitle), Frame: frame, Active: n.Focused,
		}, shown: n.Visible, outer: n.Rect.rect()})
		return
	}
	order := func(a, b swayNode) int { return n.rank(a.ID) - n.rank(b.ID) }
	slices.SortStableFunc(n.Floating, order)
	slices.SortStableFunc(n.Nodes, order)
	for i := range n.Floating {
		n.Floating[i].collect(floating, tiled, true)
	}
	for i := range n.Nodes {
		n.Nodes[i].collect(floating, tiled, floats)
	}
}

// rank returns the place of a child in the order of focus.
func (n *swayNode) rank(id int64) int {
	if i := slices.Index(n.Focus, id); i >= 0 {
		return i
	}
	return len(n.Focus)
}

// command runs a command for a window.
func (s *sway) command(ctx context.Context, id desktop.WindowID, command string) error {
	reply, err := s.ask(ctx, swayCommand, fmt.Sprintf("[con_id=%d] %s", id, command))
	if err != nil {
		return err
	}
	var results []struct {
		Success bool   `json:"success"`
		Error   string `json:"error"`
	}
	if err := json.Unmarshal(reply, &results); err != nil {
		return fmt.Errorf("the answer of sway has another form: %w", err)
	}
	for _, r := range results {
		if !r.Success {
			return errors.New("sway answers: " + aai.CleanLabel(r.Error, maxTitle))
		}
	}
	return nil
}

func (s *sway) activate(ctx context.Context, id desktop.WindowID) error {
	return s.command(ctx, id, "focus")
}

func (s *sway) manage(ctx context.Context, id desktop.WindowID, wish desktop.WindowRequest) error {
	if wish != desktop.Close {
		return unsupported("sway cannot "+string(wish)+" a window without its focus", `Use the mode "focus".`)
	}
	return s.command(ctx, id, "kill")
}

// cover sets the covered part of each window.
func cover(all []window) {
	above := make([]desktop.Rect, 0, len(all))
	for i := range all {
		if w := &all[i]; w.shown {
			w.Covered = coveredPart(w.Frame, above)
			above = append(above, w.Frame)
		} else {
			w.Covered = 1
		}
	}
}

// coveredPart returns the part of a rectangle that lies under others, from 0 to 1.
func coveredPart(r desktop.Rect, above []desktop.Rect) float64 {
	if r.Empty() {
		return 0
	}
	free, area := []desktop.Rect{r}, 0
	for _, a := range above {
		free = desktop.Subtract(free, a)
	}
	for _, f := range free {
		area += f.W * f.H
	}
	return 1 - float64(area)/float64(r.W*r.H)
}
