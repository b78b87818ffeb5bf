package wayland

import (
	"context"
	"errors"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// A gnomeExtension is the gateway's extension of GNOME Shell, which a person installs.
type gnomeExtension struct {
	conn  *wire.Conn
	owner string // the shell's connection
}

// The interface of the extension.
const (
	gnomeName = "org.aai.gateway.Windows" // also of its interface
	gnomePath = "/org/aai/gateway/Windows"
)

// findGNOME returns the extension; nil if the shell runs none. Only a name that the compositor of the connection owns
// counts: any program can own it.
func (d *Display) findGNOME(ctx context.Context, c *conn) (manager, error) {
	conn, err := d.bus.connect(ctx, d.config.Getenv)
	if err != nil {
		return nil, nil //nolint:nilerr // a session without a bus has no such interface
	}
	unique, pid, err := owner(ctx, conn, gnomeName)
	if err != nil || !c.isServedBy(pid) {
		return nil, err
	}
	return scripted{&gnomeExtension{conn: conn, owner: unique}}, nil
}

// extensionAdvice says how a person makes GNOME Shell tell the places of windows.
const extensionAdvice = "A person can run `aai-gateway install --gnome-extension`, log in again and switch the extension on: " +
	"`gnome-extensions enable " + ExtensionID + "`."

// hasShell reports whether the compositor is GNOME Shell, which can run the extension.
func (d *Display) hasShell(ctx context.Context, c *conn) bool {
	conn, err := d.bus.connect(ctx, d.config.Getenv)
	if err != nil {
		return false
	}
	_, pid, err := owner(ctx, conn, "org.gnome.Shell")
	return err == nil && c.isServedBy(pid)
}

// name implements windowScript.
func (g *gnomeExtension) name() string { return "the gateway's extension of GNOME Shell" }

// run implements windowScript.
func (g *gnomeExtension) run(ctx context.Context, r *windowRequest) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m := &wire.Message{Destination: g.owner, Path: gnomePath, Interface: gnomeName, Member: "List"}
	if r != nil && r.What == pointerRequest {
		m.Member, r = "Pointer", nil
	}
	if r != nil {
		e := wire.Encoder{}
		e.Str(r.ID)
		e.Str(r.What)
		m.Member, m.Signature, m.Body = "Act", "ss", e.Bytes()
	}
	reply, err := call(ctx, g.conn, m)
	if err != nil {
		return "", err
	}
	d := reply.Decoder()
	switch {
	case r == nil && reply.Signature == "s":
		text := d.Str()
		return text, d.Err()
	case r != nil && reply.Signature == "b":
		if d.Bool() {
			return requestDone, d.Err()
		}
		return "", d.Err()
	}
	return "", errors.New("the extension of GNOME Shell answers in another form; install it again")
}
