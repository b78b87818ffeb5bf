package wayland

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// A remoteTarget is the object of a session of remote control. The portal has one object for all sessions, and wants
// the session as the first argument.
type remoteTarget struct {
	owner, path, iface string
	session            string // object path of the session
	isPortal           bool
}

// A remoteClip is the clipboard of a session of remote control. Mutter and the portal have the same methods.
type remoteClip struct {
	remote *remote

	mu      sync.Mutex
	target  remoteTarget
	enabled bool
	types   []string // of the clip, at most maxOffers
	isOwn   bool
	content map[string][]byte // of the own clip
	served  func()
	changed chan struct{} // closed at the next change; nil without a wait
	others  func(*wire.Message)
}

// begin sets the session of the signals.
func (c *remoteClip) begin(t remoteTarget) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.target, c.enabled = t, true
}

// onSignal handles the signals of the session.
func (c *remoteClip) onSignal(m *wire.Message) {
	c.mu.Lock()
	t, others := c.target, c.others
	c.mu.Unlock()
	if others != nil {
		others(m)
	}
	if t.owner == "" || m.Sender != t.owner {
		return
	}
	if m.Member == "Closed" && m.Path == t.session {
		select {
		case <-c.remote.closed:
		default:
			close(c.remote.closed)
		}
		return
	}
	if m.Interface != t.iface {
		return
	}
	d := m.Decoder()
	if t.isPortal && d.Str() != t.session {
		return
	}
	switch m.Member {
	case "SelectionOwnerChanged":
		options := readOptions(d)
		types, _ := options["mime_types"].([]string)
		if types == nil {
			types, _ = options["mime-types"].([]string)
		}
		own, _ := options["session_is_owner"].(bool)
		if !own {
			own, _ = options["session-is-owner"].(bool)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.types, c.isOwn = types[:min(len(types), maxOffers)], own; c.changed != nil {
			close(c.changed)
			c.changed = nil
		}
	case "SelectionTransfer":
		kind, serial := d.Str(), d.U32()
		if d.Err() == nil {
			go c.serve(kind, serial)
		}
	}
}

// enable says whether the session may use the clipboard.
func (c *remoteClip) enable(is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enabled = is
}

// ask calls a method of the session.
func (c *remoteClip) ask(ctx context.Context, member, signature string, write func(*wire.Encoder)) (*wire.Message, error) {
	c.mu.Lock()
	t := c.target
	c.mu.Unlock()
	e := wire.Encoder{}
	if t.isPortal {
		e.Str(t.session)
		signature = "o" + signature
	}
	write(&e)
	return call(ctx, c.remote.bus, &wire.Message{
		Destination: t.owner, Path: t.path, Interface: t.iface, Member: member, Signature: signature, Body: e.Bytes(),
	})
}

// serve gives the own clip to a program.
func (c *remoteClip) serve(kind string, serial uint32) {
	ctx, cancel := context.WithTimeout(context.Background(), clipPatience)
	defer cancel()
	c.mu.Lock()
	content, served := c.content[kind], c.served
	c.mu.Unlock()
	reply, err := c.ask(ctx, "SelectionWrite", "u", func(e *wire.Encoder) { e.U32(serial) })
	if err == nil {
		err = writeClip(fileOf(reply), content)
	}
	_, _ = c.ask(ctx, "SelectionWriteDone", "ub", func(e *wire.Encoder) {
		e.U32(serial)
		e.Bool(err == nil)
	})
	if err == nil && served != nil {
		served()
	}
}

// fileOf returns the file of an answer; nil if there is none.
func fileOf(reply *wire.Message) *os.File {
	if reply.Signature != "h" {
		return nil
	}
	return reply.TakeFile(reply.Decoder().U32())
}

// writeClip writes a clip to a program and closes the file.
func writeClip(file *os.File, content []byte) error {
	if file == nil {
		return errors.New("the compositor gave no pipe for the clip")
	}
	defer func() { _ = file.Close() }()
	_ = file.SetWriteDeadline(time.Now().Add(clipPatience))
	_, err := file.Write(content)
	return err
}

// offer implements clipService.
func (c *remoteClip) offer(context.Context) (clipOffer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := clipOffer{types: c.types, done: func() {}}
	if c.isOwn { // the compositor does not give a session its own clip
		content := c.content
		o.types = slices.Sorted(maps.Keys(content))
		o.receive = func(_ context.Context, kind string) ([]byte, error) { return content[kind], nil }
		return o, nil
	}
	o.receive = func(ctx context.Context, kind string) ([]byte, error) {
		reply, err := c.ask(ctx, "SelectionRead", "s", func(e *wire.Encoder) { e.Str(kind) })
		if err != nil {
			return nil, err
		}
		file := fileOf(reply)
		if file == nil {
			return nil, errors.New("the compositor gave no pipe for the clip")
		}
		return readClip(ctx, file)
	}
	return o, nil
}

// readClip reads a clip from the program that has it, and closes the file.
func readClip(ctx context.Context, r *os.File) ([]byte, error) {
	defer func() { _ = r.Close() }()
	_ = r.SetReadDeadline(time.Now().Add(clipPatience))
	defer context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Now()) })()
	content, err := io.ReadAll(io.LimitReader(r, maxClip+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, refused(aai.Timeout, "the program that has the clip does not give it: %w", err)
	case len(content) > maxClip:
		return nil, refused(aai.AutomationFailed, "the clip has more than %d MiB", maxClip>>20)
	}
	return content, nil
}

// own implements clipService. It waits until the compositor has taken the clip.
func (c *remoteClip) own(ctx context.Context, content map[string][]byte, served func()) error {
	types := slices.Sorted(maps.Keys(content))
	if len(types) == 0 { // only the own clip can be removed
		if err := c.own(ctx, textClip(""), nil); err != nil {
			return err
		}
	}
	c.mu.Lock()
	changed, isPortal := make(chan struct{}), c.target.isPortal
	c.content, c.served, c.changed = content, served, changed
	c.mu.Unlock()
	name := "mime-types"
	if isPortal {
		name = "mime_types"
	}
	var options []option
	if len(types) > 0 {
		options = append(options, option{name, types})
	}
	_, err := c.ask(ctx, "SetSelection", "a{sv}", func(e *wire.Encoder) { writeOptions(e, options) })
	if err != nil || len(types) == 0 {
		return err
	}
	select {
	case <-changed:
		return nil
	case <-c.remote.bus.Done():
		return wire.ErrConnectionLost
	case <-time.After(clipPatience):
		return refused(aai.Timeout, "the compositor did not take the clip")
	case <-ctx.Done():
		return ctx.Err()
	}
}
