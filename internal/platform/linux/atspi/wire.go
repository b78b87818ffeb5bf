package atspi

import (
	"context"
	"errors"
	"strings"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

const propertiesInterface = "org.freedesktop.DBus.Properties"

// The AT-SPI interfaces.
const (
	accessibleInterface  = "org.a11y.atspi.Accessible"
	actionInterface      = "org.a11y.atspi.Action"
	applicationInterface = "org.a11y.atspi.Application"
	cacheInterface       = "org.a11y.atspi.Cache"
	componentInterface   = "org.a11y.atspi.Component"
	editableInterface    = "org.a11y.atspi.EditableText"
	selectionInterface   = "org.a11y.atspi.Selection"
	tableInterface       = "org.a11y.atspi.Table"
	textInterface        = "org.a11y.atspi.Text"
	valueInterface       = "org.a11y.atspi.Value"
)

// A ref identifies an object on the accessibility bus.
type ref struct{ sender, path string }

// nullPath is the path of the null object.
const nullPath = "/org/a11y/atspi/null"

func (r ref) none() bool { return r.path == "" || r.path == nullPath }

// A request is a call with its arguments, which can be sent to any object.
type request struct {
	iface, member, signature string
	body                     []byte
	reply                    string // signature of the reply
}

// requests are prebuilt requests for frequent queries.
type requests struct {
	name, description, childCount, parent, accessibleID              *request
	children, role, states, interfaces, attributes, relations, index *request
	extents, extentsInWindow                                         *request
	characterCount, caretOffset, textAttributes                      *request
	actions, actionCount                                             *request
	actionNames                                                      [4]*request // of the first actions
	value, minimum, maximum                                          *request
	selected                                                         *request
	toolkit, toolkitVersion, peerAddress                             *request
	items, showing, locale                                           *request
}

func newRequests() *requests {
	q := &requests{
		name:            property(accessibleInterface, "Name"),
		description:     property(accessibleInterface, "Description"),
		childCount:      property(accessibleInterface, "ChildCount"),
		parent:          property(accessibleInterface, "Parent"),
		accessibleID:    property(accessibleInterface, "AccessibleId"),
		children:        method(accessibleInterface, "GetChildren", "a(so)"),
		role:            method(accessibleInterface, "GetRole", "u"),
		states:          method(accessibleInterface, "GetState", "au"),
		interfaces:      method(accessibleInterface, "GetInterfaces", "as"),
		attributes:      method(accessibleInterface, "GetAttributes", "a{ss}"),
		locale:          method(documentInterface, "GetLocale", "s"),
		relations:       method(accessibleInterface, "GetRelationSet", "a(ua(so))"),
		index:           method(accessibleInterface, "GetIndexInParent", "i"),
		extents:         numbers(componentInterface, "GetExtents", "u", "(iiii)", 0), // in screen coordinates
		extentsInWindow: numbers(componentInterface, "GetExtents", "u", "(iiii)", 1),
		characterCount:  property(textInterface, "CharacterCount"),
		caretOffset:     property(textInterface, "CaretOffset"),
		textAttributes:  method(textInterface, "GetDefaultAttributes", "a{ss}"),
		actions:         method(actionInterface, "GetActions", "a(sss)"),
		actionCount:     property(actionInterface, "NActions"),
		value:           property(valueInterface, "CurrentValue"),
		minimum:         property(valueInterface, "MinimumValue"),
		maximum:         property(valueInterface, "MaximumValue"),
		selected:        numbers(selectionInterface, "GetSelectedChild", "i", "(so)", 0),
		toolkit:         property(applicationInterface, "ToolkitName"),
		toolkitVersion:  property(applicationInterface, "Version"),
		peerAddress:     method(applicationInterface, "GetApplicationBusAddress", "s"),
		items:           method(cacheInterface, "GetItems", "a((so)(so)(so)iiassusau)"),
	}
	q.showing = matches(stateShowing)
	for i := range q.actionNames {
		q.actionNames[i] = numbers(actionInterface, "GetName", "i", "s", int32(i))
	}
	return q
}

// extentsOf returns the query for an object's frame that suits the profile. An app that does not know its
// screen position would log a warning at the other query.
func (q *requests) extentsOf(p *profile) *request {
	if p.windowRelative {
		return q.extentsInWindow
	}
	return q.extents
}

// actionName returns the query for the name of one of an element's actions.
func (q *requests) actionName(i int) *request {
	if i < len(q.actionNames) {
		return q.actionNames[i]
	}
	return numbers(actionInterface, "GetName", "i", "s", int32(i))
}

// property returns the query for one property. GetAll is never used: Qt 5.15 and 6.4 crash on it.
func property(iface, name string) *request {
	e := wire.Encoder{}
	e.Str(iface)
	e.Str(name)
	return &request{iface: propertiesInterface, member: "Get", signature: "ss", body: e.Bytes(), reply: "v"}
}

func method(iface, member, reply string) *request {
	return &request{iface: iface, member: member, reply: reply}
}

// numbers returns a request with arguments that are all 32 bits wide.
func numbers(iface, member, signature, reply string, args ...int32) *request {
	e := wire.Encoder{}
	for _, n := range args {
		e.I32(n)
	}
	return &request{iface: iface, member: member, signature: signature, body: e.Bytes(), reply: reply}
}

// to returns the message that sends the request to an object.
func (q *request) to(r ref) *wire.Message {
	return &wire.Message{Destination: r.sender, Path: r.path, Interface: q.iface, Member: q.member, Signature: q.signature, Body: q.body}
}

// A batch is a list of requests that are sent together.
type batch struct {
	messages []*wire.Message
	waiters  []replyHandler
}

// A replyHandler handles one reply. Both functions may be nil.
type replyHandler struct {
	reply   string
	take    func(*wire.Decoder)
	refused func(*refusal)
}

// add adds a request. take receives a reply of the right type. The reply may be truncated, so take must
// check each value that it reads.
func (r *batch) add(q *request, to ref, take func(*wire.Decoder)) {
	r.addOr(q, to, take, nil)
}

// addOr adds a request with a handler for a refusal.
func (r *batch) addOr(q *request, to ref, take func(*wire.Decoder), refused func(*refusal)) {
	r.messages = append(r.messages, q.to(to))
	r.waiters = append(r.waiters, replyHandler{q.reply, take, refused})
}

// dispatch passes the replies to their handlers. It returns the first error.
func (r *batch) dispatch(replies []wire.Reply) error {
	var first error
	for i, reply := range replies {
		if err := r.waiters[i].dispatch(reply); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (w replyHandler) dispatch(reply wire.Reply) error {
	switch {
	case reply.Err != nil:
		return reply.Err
	case reply.Message.Kind == wire.KindError:
		refused := replyError(reply.Message)
		if w.refused != nil {
			w.refused(refused)
		}
		if refused.gone() {
			return refused
		}
	case reply.Message.Signature == w.reply && w.take != nil:
		w.take(reply.Message.Decoder())
	case w.refused != nil:
		w.refused(&refusal{name: "org.freedesktop.DBus.Error.InvalidSignature", text: "answered with " + reply.Message.Signature})
	}
	return nil
}

// run sends the requests to an app and its parts, over the app's own socket if there is one. Missing
// answers of other apps, parts of which this app exposes, are ignored.
func (p *program) run(ctx context.Context, r *batch) error {
	if len(r.messages) == 0 {
		return nil
	}
	own, foreign := r.divide(p.sender)
	peer := p.peer()
	if peer != nil && len(own.messages) > 0 {
		if err := p.inFlight.run(ctx, peer, own); !errors.Is(err, wire.ErrConnectionLost) {
			if err == nil {
				err = p.runForeign(ctx, foreign)
			}
			return err
		}
		p.dropPeer(peer) // all requests are sent again: the bus knows whether the app is alive
	}
	if err := p.inFlight.run(ctx, p.link.conn, own); err != nil {
		return err
	}
	return p.runForeign(ctx, foreign)
}

// runForeign sends requests to parts of other apps. It returns an error only for an expired context or a
// lost bus.
func (p *program) runForeign(ctx context.Context, r *batch) error {
	if r == nil || len(r.messages) == 0 {
		return nil
	}
	err := p.inFlight.run(ctx, p.link.conn, r)
	if _, refused := errors.AsType[*refusal](err); refused {
		return nil
	}
	return err
}

// divide separates the requests to the app from the rarely needed requests to other apps.
func (r *batch) divide(sender string) (own, foreign *batch) {
	for i, m := range r.messages {
		if m.Destination == sender {
			if foreign != nil {
				own.messages, own.waiters = append(own.messages, m), append(own.waiters, r.waiters[i])
			}
			continue
		}
		if foreign == nil {
			foreign = &batch{}
			own = &batch{append([]*wire.Message{}, r.messages[:i]...), append([]replyHandler{}, r.waiters[:i]...)}
		}
		foreign.messages, foreign.waiters = append(foreign.messages, m), append(foreign.waiters, r.waiters[i])
	}
	if foreign == nil {
		own = r
	}
	return own, foreign
}

// id returns the ID of the object in the app with the bus name sender. It is the path, after the object's
// own bus name if that differs from sender.
func (r ref) id(sender string) desktop.ID {
	if r.sender == sender {
		return desktop.ID(r.path)
	}
	return desktop.ID(r.sender + r.path)
}

// parseID is the inverse of id. It returns false for an invalid ID.
func parseID(id desktop.ID, sender string) (ref, bool) {
	s := string(id)
	slash := strings.IndexByte(s, '/')
	if slash < 0 || !wire.ValidPath(s[slash:]) {
		return ref{}, false
	}
	if slash == 0 {
		return ref{sender, s}, true
	}
	if s[0] != ':' || !wire.ValidBusName(s[:slash]) {
		return ref{}, false
	}
	return ref{s[:slash], s[slash:]}, true
}

// Decoders of replies.

// readRef reads an (so).
func readRef(d *wire.Decoder, sender string) ref {
	d.Struct()
	return ref{d.StringLike(sender), d.Str()}
}

// readRefs reads an a(so).
func readRefs(d *wire.Decoder, sender string) []ref {
	var refs []ref
	d.Array(8, func() { refs = append(refs, readRef(d, sender)) })
	if d.Err() != nil {
		return nil
	}
	return refs
}

// readText reads a variant that holds a string.
func readText(d *wire.Decoder) (string, bool) {
	if d.Variant() != "s" {
		return "", false
	}
	s := d.Str()
	return s, d.Err() == nil
}

// readNumber reads a variant that holds a number: a double by the specification, but not in every toolkit.
func readNumber(d *wire.Decoder) (float64, bool) {
	var n float64
	switch d.Variant() {
	case "d":
		n = d.Double()
	case "i":
		n = float64(d.I32())
	case "u":
		n = float64(d.U32())
	case "x":
		n = float64(d.I64())
	case "t":
		n = float64(d.U64())
	default:
		return 0, false
	}
	return n, d.Err() == nil
}

// readStates reads the words of GetState.
func readStates(d *wire.Decoder) (stateSet, bool) {
	var words [2]uint32
	n := 0
	d.Array(4, func() {
		word := d.U32()
		if n < len(words) {
			words[n] = word
		}
		n++
	})
	return stateSet(words[0]) | stateSet(words[1])<<32, n > 0 && d.Err() == nil
}

// readExtents reads a rectangle.
func readExtents(d *wire.Decoder) (desktop.Rect, bool) {
	d.Struct()
	r := desktop.Rect{X: int(d.I32()), Y: int(d.I32()), W: int(d.I32()), H: int(d.I32())}
	return r, d.Err() == nil
}
