//go:build darwin || axdouble

package ax

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

const (
	maxDepth    = 100
	maxElements = 30_000 // of a snapshot
	maxChildren = 500    // of an element
	maxName     = 4096   // of a name, in UTF-16 units
	maxValue    = 1 << 20
)

// A reader reads elements during one call.
type reader struct {
	*Tree
	ctx      context.Context //nolint:containedctx // the reader lives as long as the call
	app      desktop.App
	table    *table
	complete bool // values are not cut
	elements []desktop.Element
	seen     map[uint64]bool
	warnings []string
	focused  native.Ref // the window with the app's keyboard focus
	front    bool       // the app is in front
	hidden   bool       // the app is hidden
	pool     native.Pool
}

// A node is an element of a walk with the facts that its children need.
type node struct {
	entry    *entry
	role     string // of macOS
	element  desktop.Element
	open     bool         // its menu is open
	clip     desktop.Rect // the part of the screen in which its children show
	clips    bool         // clip holds
	children []native.Ref
	total    int // number of children
	pool     native.Pool
}

func (t *Tree) newReader(ctx context.Context, w *worker, app desktop.App) *reader {
	return &reader{Tree: t, ctx: ctx, app: app, table: w.table, seen: make(map[uint64]bool), pool: native.Pool{API: t.api}}
}

// fail returns the error for an error of the accessibility API.
func (r *reader) fail(code native.AXError) error {
	started, _ := r.api.Started(r.app.PID)
	return failure(code, started != "" && (r.app.Started == "" || started == r.app.Started), r.responsible())
}

// roots returns the windows of the app and its menu bar, and sets the facts about the app.
func (r *reader) roots() (windows []native.Ref, menuBar native.Ref, err error) {
	application := r.pool.Own(r.api.AXUIElementCreateApplication(int32(r.app.PID)))
	r.api.AXUIElementSetMessagingTimeout(application, messagingTimeout)
	for name, set := range map[string]func(native.Ref){
		"AXFrontmost":     func(v native.Ref) { n, _ := r.api.NumberOf(v); r.front = n != 0 },
		"AXHidden":        func(v native.Ref) { n, _ := r.api.NumberOf(v); r.hidden = n != 0 },
		"AXFocusedWindow": func(v native.Ref) { r.focused = v },
		"AXMenuBar":       func(v native.Ref) { menuBar = v },
		"AXWindows":       func(v native.Ref) { windows = r.elementsOf(v) },
	} {
		value, code := r.attribute(&r.pool, application, name)
		if code != 0 {
			return nil, 0, r.fail(code)
		}
		set(value)
	}
	if r.api.TypeOf(menuBar) != native.Element {
		menuBar = 0
	}
	return windows, menuBar, nil
}

// snapshot reads all windows of the app and its menu bar, which is a part of the first window that is no dialog.
func (r *reader) snapshot() ([]desktop.Element, error) {
	defer r.pool.Drain()
	windows, menuBar, err := r.roots()
	if err != nil {
		return nil, err
	}
	r.table.begin()
	at := -1
	for _, window := range windows {
		index := len(r.elements)
		if err := r.walk(window, nil, -1, 0, 0); err != nil {
			return nil, err
		}
		if menuBar != 0 && at < 0 && len(r.elements) > index && r.elements[index].Role == desktop.Window && r.elements[index].States.Has(desktop.Showing) {
			at = index
			if err := r.walk(menuBar, nil, index, 0, 0); err != nil {
				return nil, err
			}
		}
	}
	if menuBar != 0 && at < 0 {
		if err := r.walk(menuBar, nil, -1, 0, 0); err != nil {
			return nil, err
		}
	}
	r.table.collect()
	return r.elements, nil
}

// walk reads an element with its content. parent is nil for a window and for the menu bar; index is that of the parent in the elements.
func (r *reader) walk(ref native.Ref, parent *node, index, pos, depth int) error {
	switch {
	case r.ctx.Err() != nil:
		return notAnswered(r.ctx)
	case len(r.elements) >= maxElements:
		r.warn("the app has more than 30,000 elements; the others are left out")
		return nil
	case depth > maxDepth:
		r.warn("elements below the depth 100 are left out")
		return nil
	}
	n, code := r.describe(ref, parent, pos)
	if code == native.ErrInvalidElement {
		return nil // it went away meanwhile
	} else if code != 0 {
		return r.fail(code)
	}
	defer n.pool.Drain()
	if r.seen[n.entry.number] {
		return nil // an app may name an element as its own descendant
	}
	r.seen[n.entry.number] = true
	n.element.Parent = index
	at := len(r.elements)
	r.elements = append(r.elements, n.element)
	for i, child := range n.children {
		if err := r.walk(child, n, at, i, depth+1); err != nil {
			return err
		}
	}
	r.nameByContent(at)
	return nil
}

func (r *reader) warn(text string) {
	if len(r.warnings) == 0 || r.warnings[len(r.warnings)-1] != text {
		r.warnings = append(r.warnings, text)
	}
}

// nameByContent names an element without a name by the texts in it. A row with one cell has the name, and the cell has none.
func (r *reader) nameByContent(at int) {
	e := &r.elements[at]
	if e.Name != "" || !isNamedByContent(e.Role) || e.Role == desktop.Cell && e.Size < 2 {
		return
	}
	const maxTexts, maxLength = 8, 200
	var texts []string
	length := 0
	for i := at + 1; i < len(r.elements) && len(texts) < maxTexts && length < maxLength; i++ {
		inner := &r.elements[i]
		text := inner.Name
		if inner.Role == desktop.Textbox && !inner.States.Has(desktop.Protected) {
			text = inner.Value // a cell that can be edited
		} else if !inner.Role.IsTextual() && inner.Role != desktop.Link {
			continue
		}
		if text != "" {
			texts, length = append(texts, text), length+len(text)
		}
	}
	e.Name = cut(strings.Join(texts, " "), maxLength)
}

// cut returns the beginning of a text, at most max bytes long.
func cut(text string, max int) string {
	if len(text) <= max {
		return text
	}
	for max > 0 && text[max]&0xC0 == 0x80 {
		max--
	}
	return text[:max]
}

// locate reads the ancestors of an element and then the element. The caller drains the pools of the nodes. It fails with STALE_REF if
// an ancestor does not list its descendant any more, since macOS still answers for some elements that no window shows.
func (r *reader) locate(id desktop.ID) (path []*node, err error) {
	chain := r.table.chain(id)
	if chain == nil {
		return nil, gone()
	}
	windows, menuBar, err := r.roots()
	if err != nil {
		return nil, err
	}
	listed := append(windows, menuBar)
	var parent *node
	for _, e := range chain {
		pos := r.indexOf(listed, e.ref)
		isListed := pos >= 0
		if parent != nil && parent.total > len(parent.children) {
			isListed = true // not all children were read
		}
		if !isListed {
			return path, gone()
		}
		n, code := r.describe(e.ref, parent, pos)
		if code != 0 {
			return path, r.fail(code)
		}
		path, parent, listed = append(path, n), n, n.children
	}
	return path, nil
}

// indexOf returns the index of an element, or -1.
func (r *reader) indexOf(refs []native.Ref, ref native.Ref) int {
	for i, one := range refs {
		if one != 0 && r.api.CFEqual(one, ref) {
			return i
		}
	}
	return -1
}

// drain releases the objects of the nodes and of the reader.
func (r *reader) drain(path []*node) {
	for _, n := range path {
		n.pool.Drain()
	}
	r.pool.Drain()
}

// one reads an element afresh.
func (r *reader) one(id desktop.ID) (desktop.Element, error) {
	path, err := r.locate(id)
	defer func() { r.drain(path) }()
	if err != nil {
		return desktop.Element{}, err
	}
	n := path[len(path)-1]
	if err := r.nameAlone(n); err != nil {
		return desktop.Element{}, err
	}
	return n.element, nil
}

// nameAlone names an element outside of a snapshot by its content.
func (r *reader) nameAlone(n *node) error {
	if n.element.Name != "" || !isNamedByContent(n.element.Role) {
		return nil
	}
	r.elements, r.seen = []desktop.Element{n.element}, map[uint64]bool{n.entry.number: true}
	for i, child := range n.children {
		if err := r.walk(child, n, 0, i, 1); err != nil {
			return err
		}
	}
	r.nameByContent(0)
	n.element.Name = r.elements[0].Name
	return nil
}

// some reads some children of an element.
func (r *reader) some(id desktop.ID, first, count int) ([]desktop.Element, error) {
	path, err := r.locate(id)
	defer func() { r.drain(path) }()
	if err != nil {
		return nil, err
	}
	n := path[len(path)-1]
	name := "AXChildren"
	if n.role == "AXTable" || n.role == "AXOutline" {
		name = "AXRows"
	}
	refs, code := r.page(&r.pool, n.entry.ref, name, first, count)
	if code != 0 {
		return nil, r.fail(code)
	}
	var children []desktop.Element
	for i, ref := range refs {
		child, code := r.describe(ref, n, first+i)
		if code == native.ErrInvalidElement {
			continue
		} else if code != 0 {
			return nil, r.fail(code)
		}
		err := r.nameAlone(child)
		child.pool.Drain()
		if err != nil {
			return nil, err
		}
		children = append(children, child.element)
	}
	return children, nil
}
