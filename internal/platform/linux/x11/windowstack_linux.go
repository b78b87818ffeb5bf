package x11

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// maxTops is the maximum number of windows to read, from the top.
const maxTops = 4000

// A windowStack is a snapshot of the windows on the screen.
type windowStack struct {
	screen  desktop.Rect
	tops    []top    // lowest first
	clients []client // front one first
}

// A top is a child of the root: the frame that a window manager put around a window, or a
// window without one, such as a menu.
type top struct {
	id    xid
	shown bool
	frame desktop.Rect
	// solid is the part that hides lower windows and catches clicks. It excludes the
	// shadow and transparent overlays that a compositor puts over the screen.
	solid []desktop.Rect
}

// A client is a window that belongs to a program.
type client struct {
	desktop.WindowInfo
	id     xid
	origin desktop.Point // of its surface, including its own shadow
	shown  bool
	top    int // index of the top that it is or lies in, or -1
}

// managed reports whether a window manager runs. The property of a dead one on the root
// does not count: its own window must have it too; EWMH, "Root Window Properties".
func (s *server) managed(ctx context.Context) (bool, error) {
	name := s.atoms["_NET_SUPPORTING_WM_CHECK"]
	check := getProperty(s.root, name, 4, false)
	if err := s.must(ctx, check); err != nil {
		return false, err
	}
	manager := check.property().first()
	if manager == none {
		return false, nil
	}
	itself := getProperty(manager, name, 4, false)
	err := s.do(ctx, itself)
	return itself.property().first() == manager, err
}

// look reads the window stack, in five round trips plus one for each further window
// between a client and its top.
func (s *server) look(ctx context.Context) (*windowStack, error) {
	stacking := getProperty(s.root, s.atoms["_NET_CLIENT_LIST_STACKING"], 4*maxTops, false)
	list := getProperty(s.root, s.atoms["_NET_CLIENT_LIST"], 4*maxTops, false)
	active := getProperty(s.root, s.atoms["_NET_ACTIVE_WINDOW"], 4, false)
	tree, focus, geometry := queryTree(s.root), getInputFocus(), getGeometry(s.root)
	if err := s.must(ctx, stacking, list, active, tree, focus, geometry); err != nil {
		return nil, err
	}
	_, ids := tree.children()
	ids = ids[max(0, len(ids)-maxTops):]
	clients := slices.Clone(stacking.property().numbers())
	if len(clients) == 0 {
		clients = list.property().numbers()
	}
	managed, err := s.managed(ctx)
	if err != nil {
		return nil, err
	}
	if !managed {
		clients = ids
	}
	sc := &windowStack{screen: geometryOf(geometry)}
	if err := s.fill(ctx, sc, ids, clients, from(focus.reply, 8).u32()); err != nil {
		return nil, err
	}
	if managed && !slices.ContainsFunc(sc.clients, func(c client) bool { return c.Active }) {
		// A window of the window manager itself may have the focus for a moment. _NET_ACTIVE_WINDOW
		// comes second, because an own keyboard can mislead the window manager.
		for i := range sc.clients {
			sc.clients[i].Active = sc.clients[i].id == active.property().first()
		}
	}
	if !managed { // all tops are clients; those that catch no clicks are no windows of programs
		sc.clients = slices.DeleteFunc(sc.clients, func(c client) bool { return !c.shown || c.top >= 0 && len(sc.tops[c.top].solid) == 0 })
	}
	sc.arrange()
	return sc, nil
}

// fill adds the tops and the clients to sc. It sends all requests about them at once.
func (s *server) fill(ctx context.Context, sc *windowStack, tops, clients []xid, focused xid) error {
	topCalls, clientCalls := make([]topCalls, len(tops)), make([]clientCalls, len(clients))
	var calls []*call
	for i, id := range tops {
		topCalls[i] = s.askTop(id)
		calls = append(calls, topCalls[i].all()...)
	}
	for i, id := range clients {
		clientCalls[i] = s.askClient(id)
		calls = append(calls, clientCalls[i].all()...)
	}
	processes := s.askProcesses(clients)
	calls = append(calls, processes...)
	calls = slices.DeleteFunc(calls, func(c *call) bool { return c == nil })
	if err := s.do(ctx, calls...); err != nil {
		return err
	}
	for i, id := range tops {
		sc.tops = append(sc.tops, topCalls[i].read(id))
	}
	pids := s.readProcesses(processes)
	parents := make(map[xid]xid)
	for i, id := range clients {
		c, ok := s.readClient(id, clientCalls[i], pids)
		if !ok {
			continue // it disappeared meanwhile
		}
		parents[id], _ = clientCalls[i].tree.children()
		sc.clients = append(sc.clients, c)
	}
	return s.place(ctx, sc, parents, focused)
}

// place determines the top of each client, and the active client: the one that contains
// the focused window.
func (s *server) place(ctx context.Context, sc *windowStack, parents map[xid]xid, focused xid) error {
	const pointerRoot = 1 // the focus follows the pointer: no window has it
	if focused > pointerRoot && focused != s.root && parents[focused] == none {
		parents[focused] = none
	}
	index := make(map[xid]int)
	for i, t := range sc.tops {
		index[t.id] = i
	}
	if err := s.climb(ctx, parents, index); err != nil {
		return err
	}
	active := make(map[xid]bool)
	for id := focused; id > pointerRoot && id != s.root && !active[id]; id = parents[id] {
		active[id] = true
	}
	for i := range sc.clients {
		c := &sc.clients[i]
		c.Active = active[c.id]
		c.top = -1
		id := c.id
		for range maxDepth {
			if at, ok := index[id]; ok {
				c.top = at
				break
			}
			id = parents[id]
		}
	}
	return nil
}

// maxDepth is the maximum depth of a window below the root.
const maxDepth = 32

// climb completes the map of parents up to the tops.
func (s *server) climb(ctx context.Context, parents map[xid]xid, tops map[xid]int) error {
	for range maxDepth {
		var asked []xid
		var calls []*call
		ask := func(id xid) {
			if _, isTop := tops[id]; isTop || id == none || id == s.root || slices.Contains(asked, id) {
				return
			}
			asked = append(asked, id)
			calls = append(calls, queryTree(id))
		}
		for id, parent := range parents {
			switch _, known := parents[parent]; {
			case parent == none:
				ask(id)
			case !known:
				ask(parent)
			}
		}
		if len(calls) == 0 {
			return nil
		}
		if err := s.do(ctx, calls...); err != nil {
			return err
		}
		for i, id := range asked {
			parent, _ := calls[i].children()
			if calls[i].err != nil || parent == none {
				parent = s.root // the window is gone: do not ask again
			}
			parents[id] = parent
		}
	}
	return nil
}

// arrange sorts the clients, the front one first, and computes the covered share of each.
func (sc *windowStack) arrange() {
	slices.Reverse(sc.clients)
	slices.SortStableFunc(sc.clients, func(a, b client) int { return b.top - a.top })
	for i := range sc.clients {
		c := &sc.clients[i]
		c.Covered = sc.covered(c)
		c.Active = c.Active && !c.Minimized // window managers update the two states one after the other
	}
}

func (sc *windowStack) covered(c *client) float64 {
	if !c.shown || c.Minimized || c.top < 0 || c.Frame.Empty() {
		return 1
	}
	inside := c.Frame.Intersect(sc.screen)
	seen := inside.W * inside.H
	for _, r := range sc.hidden(c) {
		seen -= r.W * r.H
	}
	return 1 - float64(seen)/float64(c.Frame.W*c.Frame.H)
}

// hidden returns the parts of the client's frame on the screen that windows above it hide. They do not overlap.
func (sc *windowStack) hidden(c *client) []desktop.Rect {
	seen, hidden := []desktop.Rect{c.Frame.Intersect(sc.screen)}, []desktop.Rect(nil)
	for _, t := range sc.tops[c.top+1:] {
		if !t.shown {
			continue
		}
		for _, solid := range t.solid {
			for _, r := range seen {
				if part := r.Intersect(solid); !part.Empty() {
					hidden = append(hidden, part)
				}
			}
			seen = desktop.Subtract(seen, solid)
		}
	}
	return hidden
}

// at returns the index of the highest top at the point, or -1.
func (sc *windowStack) at(p desktop.Point) int {
	for i, t := range slices.Backward(sc.tops) {
		if t.shown && slices.ContainsFunc(t.solid, func(r desktop.Rect) bool { return r.Contains(p) }) {
			return i
		}
	}
	return -1
}

// activatePatience is the time limit for the window manager to activate a window.
const activatePatience = 2 * time.Second

// Activate brings the window to the front, gives it the keyboard, and waits until both
// have happened. It takes the focus from the person. If the window manager does not comply
// within two seconds, Activate fails with AUTOMATION_FAILED.
func (d *Display) Activate(ctx context.Context, id desktop.WindowID) error {
	window, err := windowOf(id)
	if err != nil {
		return err
	}
	s, err := d.server(ctx)
	if err != nil {
		return err
	}
	_, err = d.stroke(ctx, inputConn{server: s, person: s}, nil, func(g *inputlock.Lease) error { return s.activate(ctx, g, window) })
	return err
}

func (s *server) activate(ctx context.Context, g *inputlock.Lease, window xid) error {
	const doing = "activating a window"
	if err := s.must(ctx, getGeometry(window)); err != nil {
		return windowFailure(doing, err)
	}
	managed, err := s.managed(ctx)
	if err != nil {
		return wrapError(doing, err)
	}
	if !managed {
		err = s.must(ctx, raiseWindow(window), setInputFocus(g, window))
	} else {
		const source, substructureRedirect = 2, 1 << 20 // 2 is a pager or similar tool, not the program itself
		ask := s.clientMessage(window, "_NET_ACTIVE_WINDOW", source, 0, 0)
		err = s.must(ctx, sendEvent(s.root, substructureRedirect|substructureNotify, ask))
	}
	if err != nil {
		return windowFailure(doing, err)
	}
	deadline := time.Now().Add(activatePatience)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		active, err := s.hasKeyboard(ctx, window)
		switch {
		case err != nil:
			e := *aai.AsError(wrapError(doing, err))
			e.Delivery = aai.DeliveryUnknown
			return &e
		case active:
			return nil
		case g.IsQuestionWaiting():
			return interrupted("the window was not waited for to come to the front")
		case time.Now().After(deadline):
			e := aai.Errorf(aai.AutomationFailed, "the window manager did not give the keyboard to the window")
			e.Hint = "Ask the person to click into the window: some window managers keep others from taking the focus."
			e.Delivery = aai.Delivered
			return e
		}
		if err := aai.Sleep(ctx, pause); err != nil {
			return wrapError(doing, err)
		}
	}
}

// clientMessage encodes a message about a window; EWMH, "Root Window Properties".
func (s *server) clientMessage(window xid, message string, data ...uint32) []byte {
	const clientMessage, format = 33, 32
	event := request(clientMessage, format, window, s.atoms[message], data, pad(4*(5-len(data))))
	event[2], event[3] = 0, 0 // the server writes the sequence number there
	return event
}

// hasKeyboard reports whether the window or one of its descendants has the keyboard focus.
func (s *server) hasKeyboard(ctx context.Context, window xid) (bool, error) {
	focus := getInputFocus()
	if err := s.must(ctx, focus); err != nil {
		return false, err
	}
	return s.within(ctx, from(focus.reply, 8).u32(), window)
}

// within reports whether inner is outer or a descendant of it.
func (s *server) within(ctx context.Context, inner, outer xid) (bool, error) {
	const pointerRoot = 1
	for range maxDepth {
		if inner == outer {
			return true, nil
		}
		if inner <= pointerRoot || inner == s.root {
			return false, nil
		}
		tree := queryTree(inner)
		if err := s.do(ctx, tree); err != nil {
			return false, err
		}
		inner, _ = tree.children()
	}
	return false, nil
}
