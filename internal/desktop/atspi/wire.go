package atspi

import (
	"context"
	"errors"
	"strings"

	"aai/internal/dbuswire"
	"aai/internal/desktop"
)

const propertiesInterface = "org.freedesktop.DBus.Properties"

// The interfaces of AT-SPI.
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

// A ref names an object on the accessibility bus.
type ref struct{ sender, path string }

// nullPath is the path of the object that is none.
const nullPath = "/org/a11y/atspi/null"

func (r ref) none() bool { return r.path == "" || r.path == nullPath }

// A question is a call with its arguments, to be put to any object.
type question struct {
	iface, member, signature string
	body                     []byte
	reply                    string // the signature of the answer
}

// questions are those that are put again and again.
type questions struct {
	name, description, childCount, parent, accessibleID              *question
	children, role, states, interfaces, attributes, relations, index *question
	extents, extentsInWindow                                         *question
	characterCount, caretOffset                                      *question
	actions, actionCount                                             *question
	actionNames                                                      [4]*question // of the first actions
	value, minimum, maximum                                          *question
	selected                                                         *question
	toolkit, toolkitVersion, peerAddress                             *question
	items, showing                                                   *question
}

func newQuestions() *questions {
	q := &questions{
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
		relations:       method(accessibleInterface, "GetRelationSet", "a(ua(so))"),
		index:           method(accessibleInterface, "GetIndexInParent", "i"),
		extents:         numbers(componentInterface, "GetExtents", "u", "(iiii)", 0), // of the screen
		extentsInWindow: numbers(componentInterface, "GetExtents", "u", "(iiii)", 1),
		characterCount:  property(textInterface, "CharacterCount"),
		caretOffset:     property(textInterface, "CaretOffset"),
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

// extentsOf asks an app with the traits where something is. One that does not know
// where on the screen it is writes a warning to its log when asked for that.
func (q *questions) extentsOf(t traits) *question {
	if t.windowRelative() {
		return q.extentsInWindow
	}
	return q.extents
}

// actionName asks for the name of one of an element's actions.
func (q *questions) actionName(i int) *question {
	if i < len(q.actionNames) {
		return q.actionNames[i]
	}
	return numbers(actionInterface, "GetName", "i", "s", int32(i))
}

// property asks for one property. GetAll is never asked: Qt 5.15 and 6.4 crash on it.
func property(iface, name string) *question {
	e := dbuswire.Encoder{}
	e.Str(iface)
	e.Str(name)
	return &question{iface: propertiesInterface, member: "Get", signature: "ss", body: e.Bytes(), reply: "v"}
}

func method(iface, member, reply string) *question {
	return &question{iface: iface, member: member, reply: reply}
}

// numbers asks with arguments that are all 32 bits wide.
func numbers(iface, member, signature, reply string, args ...int32) *question {
	e := dbuswire.Encoder{}
	for _, n := range args {
		e.I32(n)
	}
	return &question{iface: iface, member: member, signature: signature, body: e.Bytes(), reply: reply}
}

// to makes the message that puts the question to an object.
func (q *question) to(r ref) *dbuswire.Message {
	return &dbuswire.Message{Destination: r.sender, Path: r.path, Interface: q.iface, Member: q.member, Signature: q.signature, Body: q.body}
}

// A round is questions that go out together.
type round struct {
	messages []*dbuswire.Message
	waiters  []waiter
}

// A waiter takes an answer. Neither function need be there.
type waiter struct {
	reply   string
	take    func(*dbuswire.Decoder)
	refused func(*refusal)
}

// put adds a question. The answer is given to take if it is of the right type.
// What it decodes may be cut short, so it looks at nothing that it does not test.
func (r *round) put(q *question, to ref, take func(*dbuswire.Decoder)) {
	r.putOr(q, to, take, nil)
}

// putOr adds a question whose refusal matters.
func (r *round) putOr(q *question, to ref, take func(*dbuswire.Decoder), refused func(*refusal)) {
	r.messages = append(r.messages, q.to(to))
	r.waiters = append(r.waiters, waiter{q.reply, take, refused})
}

// settle hands the answers out. Its error is the first reason why there was none.
func (r *round) settle(replies []dbuswire.Reply) error {
	var first error
	for i, reply := range replies {
		if err := r.waiters[i].settle(reply); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (w waiter) settle(reply dbuswire.Reply) error {
	switch {
	case reply.Err != nil:
		return reply.Err
	case reply.Message.Kind == dbuswire.KindError:
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

// run puts the questions to an app and its parts, over its own socket where there
// is one. What other apps do not answer, parts of which this one shows, is left
// out.
func (p *program) run(ctx context.Context, r *round) error {
	if len(r.messages) == 0 {
		return nil
	}
	own, foreign := r.divide(p.sender)
	peer := p.peer()
	if peer != nil && len(own.messages) > 0 {
		if err := p.ration.run(ctx, peer, own); !errors.Is(err, dbuswire.ErrLost) {
			if err == nil {
				err = p.runForeign(ctx, foreign)
			}
			return err
		}
		p.dropPeer(peer) // and all are asked again: the bus says whether the app lives
	}
	if err := p.ration.run(ctx, p.link.conn, own); err != nil {
		return err
	}
	return p.runForeign(ctx, foreign)
}

// runForeign asks parts of other apps. Only an end of the time or of the bus is an
// error.
func (p *program) runForeign(ctx context.Context, r *round) error {
	if r == nil || len(r.messages) == 0 {
		return nil
	}
	err := p.ration.run(ctx, p.link.conn, r)
	if _, refused := errors.AsType[*refusal](err); refused {
		return nil
	}
	return err
}

// divide separates what is asked of the app from what is asked of others, of which
// there is rarely anything.
func (r *round) divide(sender string) (own, foreign *round) {
	for i, m := range r.messages {
		if m.Destination == sender {
			if foreign != nil {
				own.messages, own.waiters = append(own.messages, m), append(own.waiters, r.waiters[i])
			}
			continue
		}
		if foreign == nil {
			foreign = &round{}
			own = &round{append([]*dbuswire.Message{}, r.messages[:i]...), append([]waiter{}, r.waiters[:i]...)}
		}
		foreign.messages, foreign.waiters = append(foreign.messages, m), append(foreign.waiters, r.waiters[i])
	}
	if foreign == nil {
		own = r
	}
	return own, foreign
}

// id is the element's ID in an app: its path, after the name of whom it belongs to
// if that is another process.
func (r ref) id(sender string) desktop.ID {
	if r.sender == sender {
		return desktop.ID(r.path)
	}
	return desktop.ID(r.sender + r.path)
}

// parseID is the reverse of id.
func parseID(id desktop.ID, sender string) (ref, bool) {
	s := string(id)
	slash := strings.IndexByte(s, '/')
	if slash < 0 || !dbuswire.ValidPath(s[slash:]) {
		return ref{}, false
	}
	if slash == 0 {
		return ref{sender, s}, true
	}
	if s[0] != ':' || !dbuswire.ValidBusName(s[:slash]) {
		return ref{}, false
	}
	return ref{s[:slash], s[slash:]}, true
}

// Readers of answers.

// readRef reads an (so).
func readRef(d *dbuswire.Decoder, sender string) ref {
	d.Struct()
	return ref{d.StrLike(sender), d.Str()}
}

// readRefs reads an a(so).
func readRefs(d *dbuswire.Decoder, sender string) []ref {
	var refs []ref
	d.Array(8, func() { refs = append(refs, readRef(d, sender)) })
	if d.Err() != nil {
		return nil
	}
	return refs
}

// readText reads a variant that holds a string.
func readText(d *dbuswire.Decoder) (string, bool) {
	if d.Variant() != "s" {
		return "", false
	}
	s := d.Str()
	return s, d.Err() == nil
}

// readNumber reads a variant that holds a number: a double by the specification,
// but not in every toolkit.
func readNumber(d *dbuswire.Decoder) (float64, bool) {
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
func readStates(d *dbuswire.Decoder) (stateSet, bool) {
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
func readExtents(d *dbuswire.Decoder) (desktop.Rect, bool) {
	d.Struct()
	r := desktop.Rect{X: int(d.I32()), Y: int(d.I32()), W: int(d.I32()), H: int(d.I32())}
	return r, d.Err() == nil
}
