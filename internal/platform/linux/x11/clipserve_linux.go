package x11

import (
	"context"
	"encoding/binary"
	"io"
	"slices"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/clipserver"
)

// answer sends the gateway's clip to a program that requests it; ICCCM, section 2.2.
func (c *clipboardConn) answer(ctx context.Context, e event) {
	if e.property == none {
		e.property = e.target // a program from before ICCCM
	}
	c.mu.Lock()
	held := c.owned
	c.mu.Unlock()
	done := false
	switch {
	case held == nil || e.selection != c.atoms["CLIPBOARD"]:
	case e.target == c.atoms["MULTIPLE"]:
		done = c.answerMultiple(ctx, held, e)
	default:
		done = c.writeClip(ctx, held, e.window, e.target, e.property)
	}
	if !done {
		e.property = none
	}
	notify := request(selectionNotify, 0, e.time, e.window, e.selection, e.target, e.property, pad(8))
	notify[2], notify[3] = 0, 0 // the server writes the sequence number there
	_ = c.do(ctx, sendEvent(e.window, 0, notify))
}

// answerMultiple answers a request for several formats: the property holds pairs of a
// format and a destination property. The destination of a failed pair becomes none.
func (c *clipboardConn) answerMultiple(ctx context.Context, held *ownedClip, e event) bool {
	const most = 64
	get := getProperty(e.window, e.property, 8*most, false)
	if err := c.must(ctx, get); err != nil {
		return false
	}
	pairs := get.property().numbers()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == c.atoms["MULTIPLE"] || pairs[i+1] == none || !c.writeClip(ctx, held, e.window, pairs[i], pairs[i+1]) {
			pairs[i+1] = none
		}
	}
	kind := c.atoms["ATOM_PAIR"]
	return c.must(ctx, changeProperty(replaceProperty, e.window, e.property, kind, 32, numbers(pairs...))) == nil
}

// writeClip writes the clip in one format into a property, and reports whether it could.
func (c *clipboardConn) writeClip(ctx context.Context, held *ownedClip, window, target, property xid) bool {
	switch target {
	case c.atoms["TARGETS"]:
		targets := append([]xid{c.atoms["TARGETS"], c.atoms["TIMESTAMP"], c.atoms["MULTIPLE"]}, c.formats(held)...)
		return c.must(ctx, changeProperty(replaceProperty, window, property, atomAtom, 32, numbers(targets...))) == nil
	case c.atoms["TIMESTAMP"]:
		return c.must(ctx, changeProperty(replaceProperty, window, property, atomInteger, 32, numbers(held.time))) == nil
	}
	if !slices.Contains(c.formats(held), target) {
		return false
	}
	kind, data := target, []byte(held.clip.Text)
	switch target {
	case c.atoms["image/png"]:
		data = held.clip.PNG
	case c.atoms["TEXT"]:
		kind = c.atoms["UTF8_STRING"]
	case atomString:
		data, _ = toLatin1(held.clip.Text)
	}
	if len(data) <= chunk {
		return c.must(ctx, changeProperty(replaceProperty, window, property, kind, 8, data)) == nil
	}
	return c.begin(ctx, transferKey{window, property}, kind, data)
}

// formats returns the formats in which the clip is available, best first.
func (c *clipboardConn) formats(held *ownedClip) []xid {
	var formats []xid
	if held.clip.Text != "" {
		formats = append(formats, c.atoms["UTF8_STRING"], c.atoms["text/plain;charset=utf-8"], c.atoms["text/plain"], c.atoms["TEXT"])
		if _, ok := toLatin1(held.clip.Text); ok {
			formats = append(formats, atomString)
		}
	}
	if len(held.clip.PNG) > 0 {
		formats = append(formats, c.atoms["image/png"])
	}
	return formats
}

// toLatin1 returns false for text with characters outside Latin-1.
func toLatin1(text string) ([]byte, bool) {
	data := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return nil, false
		}
		data = append(data, byte(r))
	}
	return data, true
}

func numbers(values ...uint32) []byte {
	var data []byte
	for _, v := range values {
		data = binary.NativeEndian.AppendUint32(data, v)
	}
	return data
}

// begin announces a clip in pieces to the program, and reports whether it could.
func (c *clipboardConn) begin(ctx context.Context, at transferKey, kind xid, data []byte) bool {
	c.mu.Lock()
	for other, t := range c.transfers {
		if time.Since(t.last) > transferPatience {
			delete(c.transfers, other)
		}
	}
	full := len(c.transfers) >= maxTransfers
	if !full {
		c.transfers[at] = &transfer{kind: kind, rest: data, last: time.Now()}
	}
	c.mu.Unlock()
	if full {
		return false
	}
	err := c.must(ctx, selectEvents(at.window, propertyChange),
		changeProperty(replaceProperty, at.window, at.property, c.atoms["INCR"], 32, numbers(uint32(len(data)))))
	if err != nil {
		c.finish(ctx, at)
	}
	return err == nil
}

// proceed writes the next piece after the program has deleted the previous one. The piece
// after the last is empty.
func (c *clipboardConn) proceed(ctx context.Context, at transferKey) {
	c.mu.Lock()
	t := c.transfers[at]
	c.mu.Unlock()
	if t == nil {
		return
	}
	n := min(chunk, len(t.rest))
	err := c.must(ctx, changeProperty(replaceProperty, at.window, at.property, t.kind, 8, t.rest[:n]))
	if err != nil || n == 0 {
		c.finish(ctx, at)
		return
	}
	t.rest, t.last = t.rest[n:], time.Now()
}

// finish ends a transfer. It stops watching the other program's window, unless another
// transfer to that window is active.
func (c *clipboardConn) finish(ctx context.Context, at transferKey) {
	c.mu.Lock()
	delete(c.transfers, at)
	watched := c.listeners[at.window] != nil
	for other := range c.transfers {
		watched = watched || other.window == at.window
	}
	c.mu.Unlock()
	if !watched {
		_ = c.do(ctx, selectEvents(at.window, 0)) // the window may be gone
	}
}

// ServeClip serves a clip in this process, as [clipserver.Serve] says.
func (d *Display) ServeClip(ctx context.Context, in io.Reader, out io.Writer) error {
	var clip desktop.Clip
	return clipserver.Serve(ctx, in, out, &clip, func(ctx context.Context) (replaced, gone <-chan struct{}, err error) {
		c, err := d.clipper(ctx)
		if err != nil {
			return nil, nil, err
		}
		return c.lost, c.gone, d.ownClip(ctx, clip)
	})
}
