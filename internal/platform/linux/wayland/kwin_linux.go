package wayland

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/process"
)

// A kwin is the scripting interface of KWin 6: the gateway loads a script, which runs in KWin and calls the gateway
// with its answer.
type kwin struct {
	bus    *bus
	conn   *wire.Conn
	owner  string // KWin's connection
	folder string // for the scripts; only the user can write there
}

// The interface of KWin.
const (
	kwinName      = "org.kde.KWin"
	kwinScripting = "org.kde.kwin.Scripting"
	kwinPath      = "/Scripting"
)

//go:embed files
var files embed.FS

// findKWin returns the scripting interface; nil if the compositor has none. Only a name that the compositor of the
// connection owns counts: any program could own it in a session without KWin.
func (d *Display) findKWin(ctx context.Context, c *conn) (manager, error) {
	conn, err := d.bus.connect(ctx, d.config.Getenv)
	if err != nil {
		return nil, nil //nolint:nilerr // a session without a bus has no such interface
	}
	unique, pid, err := owner(ctx, conn, kwinName)
	if err != nil || !c.isServedBy(pid) {
		return nil, err
	}
	return &kwin{bus: &d.bus, conn: conn, owner: unique, folder: d.config.Getenv("XDG_RUNTIME_DIR")}, nil
}

// kwinWrapper is the parent of KWin in a session of Plasma. It makes the socket of the session.
const kwinWrapper = "kwin_wayland_wrapper"

// isServedBy reports whether a process is the compositor behind the connection.
func (c *conn) isServedBy(pid int) bool {
	peer := c.peer()
	if peer == nil || pid <= 0 {
		return false
	}
	maker := int(peer.Pid)
	return pid == maker || process.ParentPID(pid) == maker && filepath.Base(process.Executable(maker)) == kwinWrapper
}

func (k *kwin) name() string { return "a script in KWin" }

// A kwinAct is a request of the script for one window.
type kwinAct struct {
	ID   string `json:"id"`
	What string `json:"what"`
}

// run runs the script and returns its answer. The file of the script is private and removed.
func (k *kwin) run(ctx context.Context, act *kwinAct) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	token := rand.Text()
	head, err := json.Marshal([]any{k.conn.Name(), token, act})
	if err != nil {
		return "", err
	}
	body, err := files.ReadFile("files/kwin.js")
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp(k.folder, "aai-gateway-kwin-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "script.js")
	if err := os.WriteFile(file, fmt.Appendf(nil, "const [receiver, token, act] = %s;\n%s", head, body), 0o600); err != nil {
		return "", err
	}
	answer, done := k.bus.answers.expect(token, k.owner)
	defer done()
	id, err := k.load(ctx, file, token)
	if err != nil {
		return "", err
	}
	defer k.unload(context.WithoutCancel(ctx), token)
	script := fmt.Sprintf("%s/Script%d", kwinPath, id)
	if _, err := call(ctx, k.conn, &wire.Message{Destination: k.owner, Path: script, Interface: "org.kde.kwin.Script", Member: "run"}); err != nil {
		return "", err
	}
	select {
	case text := <-answer:
		return text, nil
	case <-k.conn.Done():
		return "", wire.ErrConnectionLost
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// load loads a script under a name and returns its number.
func (k *kwin) load(ctx context.Context, file, name string) (int32, error) {
	e := wire.Encoder{}
	e.Str(file)
	e.Str(name)
	reply, err := call(ctx, k.conn, &wire.Message{
		Destination: k.owner, Path: kwinPath, Interface: kwinScripting, Member: "loadScript", Signature: "ss", Body: e.Bytes(),
	})
	if err != nil {
		return 0, err
	}
	d := reply.Decoder()
	id := d.I32()
	if reply.Signature != "i" || d.Err() != nil || id < 0 {
		return 0, errors.New("KWin did not load the script that lists the windows")
	}
	return id, nil
}

// unload removes a script. Nothing waits for the answer.
func (k *kwin) unload(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	e := wire.Encoder{}
	e.Str(name)
	_ = k.conn.Send(ctx, &wire.Message{
		Kind: wire.KindCall, Flags: wire.FlagNoReply, Destination: k.owner, Path: kwinPath, Interface: kwinScripting,
		Member: "unloadScript", Signature: "s", Body: e.Bytes(),
	})
}

// A kwinWindow is a window in the script's answer.
type kwinWindow struct {
	ID        string   `json:"id"`
	PID       int      `json:"pid"`
	Title     string   `json:"title"`
	Class     string   `json:"class"`
	Frame     kwinRect `json:"frame"`  // with the decorations of KWin
	Client    kwinRect `json:"client"` // the content
	Buffer    kwinRect `json:"buffer"` // with the shadow that the program draws
	Stack     int      `json:"stack"`
	Active    bool     `json:"active"`
	Minimized bool     `json:"minimized"`
	Modal     bool     `json:"modal"`
	Popup     bool     `json:"popup"`
	Shown     bool     `json:"shown"`
}

type kwinRect struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	W float64 `json:"width"`
	H float64 `json:"height"`
}

func (r kwinRect) rect() desktop.Rect {
	x, y := int(math.Round(r.X)), int(math.Round(r.Y))
	return desktop.Rect{X: x, Y: y, W: int(math.Round(r.X+r.W)) - x, H: int(math.Round(r.Y+r.H)) - y}
}

// ask returns KWin's windows, front one first.
func (k *kwin) ask(ctx context.Context) ([]kwinWindow, error) {
	text, err := k.run(ctx, nil)
	if err != nil {
		return nil, err
	}
	var all []kwinWindow
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("the answer of KWin has another form: %w", err)
	}
	slices.SortStableFunc(all, func(a, b kwinWindow) int { return cmp.Compare(b.Stack, a.Stack) })
	return all, nil
}

// list implements manager.
func (k *kwin) list(ctx context.Context) ([]window, error) {
	all, err := k.ask(ctx)
	if err != nil {
		return nil, err
	}
	windows := make([]window, 0, len(all))
	for _, w := range all {
		info := desktop.WindowInfo{
			ID: w.id(), PID: w.PID, Title: aai.CleanLabel(w.Title, maxTitle), Class: aai.CleanLabel(w.Class, maxTitle),
			Frame: w.Client.rect(), Active: w.Active, Minimized: w.Minimized, Modal: w.Modal,
		}
		windows = append(windows, window{WindowInfo: info, shown: w.Shown, popup: w.Popup})
	}
	cover(windows)
	return windows, nil
}

// id returns the number of a window: a hash of KWin's UUID that a JSON number holds exactly.
func (w *kwinWindow) id() desktop.WindowID {
	const bits = 48
	h := fnv.New64a()
	_, _ = h.Write([]byte(w.ID))
	return desktop.WindowID(h.Sum64() & (1<<bits - 1))
}

// request runs a request for a window.
func (k *kwin) request(ctx context.Context, id desktop.WindowID, what string) error {
	all, err := k.ask(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].id() != id {
			continue
		}
		answer, err := k.run(ctx, &kwinAct{all[i].ID, what})
		if err == nil && answer != "[1]" {
			err = windowGone()
		}
		return err
	}
	return windowGone()
}

// activate implements manager.
func (k *kwin) activate(ctx context.Context, id desktop.WindowID) error {
	return k.request(ctx, id, "activate")
}

// manage implements manager.
func (k *kwin) manage(ctx context.Context, id desktop.WindowID, wish desktop.WindowRequest) error {
	return k.request(ctx, id, string(wish))
}
