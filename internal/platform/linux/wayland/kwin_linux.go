package wayland

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
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
	return scripted{&kwin{bus: &d.bus, conn: conn, owner: unique, folder: d.config.Getenv("XDG_RUNTIME_DIR")}}, nil
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

// name implements windowScript.
func (k *kwin) name() string { return "a script in KWin" }

// run implements windowScript. The file of the script is private and removed.
func (k *kwin) run(ctx context.Context, r *windowRequest) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	token := rand.Text()
	head, err := json.Marshal([]any{k.conn.Name(), token, r})
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
