package wayland

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/platform/linux/ei"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
)

// programName is the gateway's name for the person.
const programName = "AAI Gateway"

// A remote is a session of remote control, which compositors without virtual devices offer: devices by EI and, where
// the compositor has it, the clipboard. It ends with its connections.
type remote struct {
	bus     *wire.Conn
	client  *ei.Client
	closed  chan struct{} // closed when the person or the compositor ends the session
	clip    *remoteClip   // nil without a clipboard
	keymaps keymapCache
}

// isAlive reports whether the session can be used.
func (r *remote) isAlive() bool {
	select {
	case <-r.client.Done():
		return false
	case <-r.closed:
		return false
	case <-r.bus.Done():
		return false
	default:
		return true
	}
}

// hasClip reports whether the session has the clipboard.
func (r *remote) hasClip() bool {
	if r.clip == nil {
		return false
	}
	r.clip.mu.Lock()
	defer r.clip.mu.Unlock()
	return r.clip.enabled
}

func (r *remote) close() {
	if r.client != nil {
		r.client.Close()
	}
	r.bus.Close()
}

// remoteControl returns the session of remote control, and opens it if necessary. The first time that may ask the person.
func (d *Display) remoteControl(ctx context.Context) (*remote, error) {
	select {
	case d.opening <- struct{}{}:
		defer func() { <-d.opening }()
	case <-ctx.Done():
		return nil, failure("waiting for the permission to control the session", ctx.Err())
	}
	if d.remote != nil {
		if d.remote.isAlive() {
			return d.remote, nil
		}
		d.portal.noteEnd(d.remote)
		d.remote.close()
		d.remote = nil
	}
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	had, err := c.seatHas(ctx, hasPointer|hasKeyboard)
	if err != nil {
		return nil, failure("looking at the seat", err)
	}
	r, err := d.openRemote(ctx)
	if err != nil {
		return nil, failure("opening a session of remote control", err)
	}
	if err = r.awaitDevices(ctx, had); err != nil {
		r.close()
		return nil, failure("waiting for the pointer and the keyboard of the remote control", err)
	}
	d.remote = r
	return r, nil
}

// awaitDevices waits for pointer and keyboard. The programs notice them late if the seat had none.
func (r *remote) awaitDevices(ctx context.Context, had bool) error {
	if _, err := r.pointer(ctx); err != nil {
		return err
	}
	if _, err := r.client.Device(ctx, ei.Keyboard); err != nil {
		return err
	}
	if had {
		return nil
	}
	return aai.Sleep(ctx, arrival)
}

func (r *remote) pointer(ctx context.Context) (*ei.Device, error) {
	return r.client.Device(ctx, ei.PointerAbsolute, ei.Button)
}

// openRemote opens a session. Compositors that ask no question are used in private sessions alone.
func (d *Display) openRemote(ctx context.Context) (*remote, error) {
	if d.isPrivate() {
		r, err := openDirect(ctx, d.config.Getenv)
		if r != nil || err != nil {
			return r, err
		}
	}
	return d.portal.open(ctx, &d.config)
}

// isPrivate reports whether the session is the gateway's own, with no person at it.
func (d *Display) isPrivate() bool { return d.config.Getenv(session.PrivateMark) != "" }

// hasRemote reports whether the session offers remote control. It asks no question.
func (d *Display) hasRemote(ctx context.Context) bool {
	return d.hasDirect(ctx, mutterName, kwinName) || d.portalVersion(ctx, remoteInterface) >= versionWithEI
}

// hasRemoteClip reports whether remote control includes the clipboard.
func (d *Display) hasRemoteClip(ctx context.Context) bool {
	return d.hasDirect(ctx, mutterName) || d.portalVersion(ctx, remoteInterface) >= versionWithEI && d.portalVersion(ctx, clipInterface) > 0
}

// hasDirect reports whether the session is private, and one of the compositors is there.
func (d *Display) hasDirect(ctx context.Context, names ...string) bool {
	conn, err := d.bus.connect(ctx, d.config.Getenv)
	if err != nil || !d.isPrivate() {
		return false
	}
	return slices.ContainsFunc(names, func(name string) bool {
		unique, _, err := owner(ctx, conn, name)
		return err == nil && unique != ""
	})
}

// portalVersion returns the version of an interface of the desktop portal; 0 if it is absent.
func (d *Display) portalVersion(ctx context.Context, iface string) uint32 {
	conn, err := d.bus.connect(ctx, d.config.Getenv)
	if err != nil {
		return 0
	}
	return portalVersion(ctx, conn, iface)
}

// The direct ways of compositors. They ask no question.
const (
	mutterName       = "org.gnome.Mutter.RemoteDesktop"
	mutterSession    = mutterName + ".Session"
	kwinEISPath      = "/org/kde/KWin/EIS/RemoteDesktop"
	kwinEISInterface = "org.kde.KWin.EIS.RemoteDesktop"
	pointerAndKeys   = 3 // types of devices; the numbers are those of the portal
)

// openDirect opens a session at the compositor itself; nil if it offers none.
func openDirect(ctx context.Context, getenv func(string) string) (*remote, error) {
	r, err := dialRemote(ctx, getenv)
	if err != nil {
		return nil, err
	}
	for _, way := range []struct {
		name string
		open func(context.Context, string) error
	}{{mutterName, r.openMutter}, {kwinName, r.openKWin}} {
		unique, _, err := owner(ctx, r.bus, way.name)
		if err == nil && unique != "" {
			if err = way.open(ctx, unique); err != nil {
				r.close()
				return nil, err
			}
			return r, nil
		}
	}
	r.close()
	return nil, nil
}

// dialRemote connects to the session bus, to which a session of remote control belongs.
func dialRemote(ctx context.Context, getenv func(string) string) (*remote, error) {
	address, err := wire.SessionAddress(getenv)
	if err != nil {
		return nil, err
	}
	r := &remote{closed: make(chan struct{})}
	r.clip = &remoteClip{remote: r}
	r.bus, err = wire.Dial(ctx, address, wire.Options{ReceiveFiles: true, OnSignal: r.clip.onSignal})
	if err != nil {
		return nil, err
	}
	if _, err := r.bus.Hello(ctx); err != nil {
		r.bus.Close()
		return nil, err
	}
	return r, nil
}

// connectEI begins EI on the file of an answer.
func (r *remote) connectEI(reply *wire.Message) (err error) {
	d := reply.Decoder()
	var file *os.File
	if len(reply.Signature) > 0 && reply.Signature[0] == 'h' {
		file = reply.TakeFile(d.U32())
	}
	if file == nil {
		return errors.New("the compositor gave no connection for input")
	}
	r.client, err = ei.Connect(file, programName)
	return err
}

func (r *remote) openKWin(ctx context.Context, kwin string) error {
	e := wire.Encoder{}
	e.I32(pointerAndKeys)
	reply, err := call(ctx, r.bus, &wire.Message{
		Destination: kwin, Path: kwinEISPath, Interface: kwinEISInterface, Member: "connectToEIS", Signature: "i", Body: e.Bytes(),
	})
	if err != nil {
		return err
	}
	r.clip = nil // KWin has it in the Wayland protocol
	return r.connectEI(reply)
}

func (r *remote) openMutter(ctx context.Context, mutter string) error {
	reply, err := call(ctx, r.bus, &wire.Message{
		Destination: mutter, Path: "/org/gnome/Mutter/RemoteDesktop", Interface: mutterName, Member: "CreateSession",
	})
	if err != nil {
		return err
	}
	path := reply.Decoder().Str()
	r.clip.begin(remoteTarget{owner: mutter, path: path, iface: mutterSession, session: path})
	ask := func(member string, options ...option) (*wire.Message, error) {
		m := &wire.Message{Destination: mutter, Path: path, Interface: mutterSession, Member: member}
		if options != nil {
			e := wire.Encoder{}
			writeOptions(&e, options)
			m.Signature, m.Body = "a{sv}", e.Bytes()
		}
		return call(ctx, r.bus, m)
	}
	if _, err = r.bus.CallBus(ctx, "AddMatch", "type='signal',sender='"+mutter+"',interface='"+mutterSession+"'"); err != nil {
		return err
	}
	reply, err = ask("ConnectToEIS", option{"device-types", uint32(pointerAndKeys)})
	if err != nil {
		return err
	}
	if err = r.connectEI(reply); err != nil {
		return err
	}
	if _, err = ask("Start"); err != nil {
		return err
	}
	_, err = ask("EnableClipboard", []option{}...)
	return err
}

// An option is an entry of a dictionary of options: a string, a uint32, a bool or a []string.
type option struct {
	name  string
	value any
}

// writeOptions writes a dictionary of options, the D-Bus type a{sv}.
func writeOptions(e *wire.Encoder, options []option) {
	_ = e.Array(8, func() error { // never too large
		for _, o := range options {
			e.Struct()
			e.Str(o.name)
			switch v := o.value.(type) {
			case string:
				e.Signature("s")
				e.Str(v)
			case uint32:
				e.Signature("u")
				e.U32(v)
			case bool:
				e.Signature("b")
				e.Bool(v)
			case []string:
				e.Signature("as")
				_ = e.Array(4, func() error {
					for _, s := range v {
						e.Str(s)
					}
					return nil
				})
			}
		}
		return nil
	})
}

// readOptions reads a dictionary of options, the values of a type that option has; others are left out. Mutter puts a
// list of texts into a struct.
func readOptions(d *wire.Decoder) map[string]any {
	all := make(map[string]any)
	d.Array(8, func() {
		d.Struct()
		name := d.Str()
		switch kind := d.Variant(); kind {
		case "s":
			all[name] = d.Str()
		case "u":
			all[name] = d.U32()
		case "b":
			all[name] = d.Bool()
		case "as", "(as)":
			if kind == "(as)" {
				d.Struct()
			}
			texts := []string{}
			d.Array(4, func() { texts = append(texts, d.Str()) })
			all[name] = texts
		default:
			d.Skip(kind)
		}
	})
	return all
}
