//go:build darwin || axdouble

package ax

import (
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

// describe reads an element and the list of its children. pos is its index among the parent's children, or -1. The caller drains the
// node's pool, unless describe returns an error.
func (r *reader) describe(ref native.Ref, parent *node, pos int) (n *node, code native.AXError) {
	n = &node{pool: native.Pool{API: r.api}}
	defer func() {
		if code != 0 {
			n.pool.Drain()
		}
	}()
	v, code := r.read(&n.pool, ref, r.common)
	if code != 0 {
		return nil, code
	}
	above := uint64(0)
	if parent != nil {
		above = parent.entry.number
	}
	n.entry = r.table.add(ref, above)
	subrole := r.text(v, "AXSubrole")
	n.role = r.text(v, "AXRole")
	e := &n.element
	e.ID, e.Role = r.table.id(n.entry.number), roleOf(n.role, subrole)
	r.refine(e, v, n.role, subrole, parent)
	if n.children, n.total, code = r.childrenOf(n, ref); code != 0 {
		return nil, code
	}
	e.UnreadChildren = n.total - len(n.children)
	r.place(n, v, parent)
	r.states(n, v, ref)
	if parent == nil && n.role != "AXMenuBar" {
		if code = r.window(n, ref); code != 0 {
			return nil, code
		}
	}
	r.position(e, parent, pos)
	if code = r.content(n, v, ref, subrole); code != 0 {
		return nil, code
	}
	if hasActions(e.Role) {
		e.Actions, code = r.actions(ref)
	}
	return n, code
}

// refine sets the facts that follow from the texts of an element, and roles that depend on the parent.
func (r *reader) refine(e *desktop.Element, v values, role, subrole string, parent *node) {
	e.Name = r.text(v, "AXTitle")
	if described := r.text(v, "AXDescription"); e.Name == "" {
		e.Name = described
	} else if described != e.Name {
		e.Description = described
	}
	if e.Description == "" {
		e.Description = r.text(v, "AXHelp")
	}
	if e.Identifier = r.text(v, "AXIdentifier"); e.Identifier == "" {
		e.Identifier = r.text(v, "AXDOMIdentifier")
	}
	switch {
	case e.Role == desktop.Group && e.Name == "":
		e.Role = desktop.Generic
	case role == "AXRadioButton" && parent != nil && parent.role == "AXTabGroup":
		e.Role = desktop.Tab
	case role == "AXButton" && e.Name == "" && strings.HasSuffix(subrole, "Button"): // those of a window's title bar have no other name
		e.Name = r.text(v, "AXRoleDescription")
	case role == "AXMenuItem" && e.Name == "" && !r.isTrue(v, "AXEnabled"):
		e.Role = desktop.Separator
	case e.Role == desktop.Text && parent != nil && parent.element.Role == desktop.Listbox:
		e.Role = desktop.Option
	}
}

// childrenOf returns the children of a node. Those of a menu's only child, which is the menu, are those of the menu's title.
func (r *reader) childrenOf(n *node, ref native.Ref) ([]native.Ref, int, native.AXError) {
	if n.role == "AXTextField" || n.role == "AXStaticText" || n.role == "AXSecureTextField" {
		return nil, 0, 0 // their content is their value
	}
	children, total, code := r.children(&n.pool, ref, n.role)
	if code != 0 || n.role != "AXMenuBarItem" && n.role != "AXMenuItem" || len(children) != 1 {
		return children, total, code
	}
	n.element.Role = desktop.Menu
	return r.children(&n.pool, children[0], "AXMenu")
}

// place sets the frame and whether the element shows.
func (r *reader) place(n *node, v values, parent *node) {
	e := &n.element
	frame, known := r.frame(v)
	shows := !r.hidden && !r.isTrue(v, "AXHidden")
	n.open = r.isTrue(v, "AXSelected")
	if parent != nil {
		n.clip, n.clips = parent.clip, parent.clips
		inMenu := parent.role == "AXMenuBarItem" || parent.role == "AXMenuItem"
		shows = shows && parent.element.States.Has(desktop.Showing) && (!inMenu || parent.open)
		switch {
		case n.role == "AXMenu" || n.role == "AXPopover" || n.role == "AXSheet" || inMenu:
			n.clips = false
		case known && frame.Empty() && len(n.children) == 0:
			shows = false
		case known && n.clips && !frame.Empty() && frame.Intersect(n.clip).Empty():
			if shows {
				e.States |= desktop.Offscreen
			}
			shows = false
		}
	}
	if known && (parent == nil && n.role != "AXMenuBar" || n.role == "AXScrollArea") {
		if n.clips {
			frame = frame.Intersect(n.clip)
		}
		n.clip, n.clips = frame, true
	}
	if !shows {
		return
	}
	e.States |= desktop.Showing
	if !frame.Empty() {
		e.Frame = frame
	}
}

// states sets the states that single attributes tell.
func (r *reader) states(n *node, v values, ref native.Ref) {
	e := &n.element
	set := func(is bool, state desktop.State) {
		if is {
			e.States |= state
		}
	}
	set(v["AXEnabled"] == 0 || r.isTrue(v, "AXEnabled"), desktop.Enabled)
	set(r.isPresent(v, "AXFocused") && e.Role.IsInteractive() && !e.Role.IsMenuItem(), desktop.Focusable)
	set(r.isTrue(v, "AXFocused") && !is(e.Role, desktop.Window, desktop.Dialog), desktop.Focused)
	set(r.isTrue(v, "AXRequired"), desktop.Required)
	set(r.isTrue(v, "AXElementBusy"), desktop.Busy)
	set(r.isTrue(v, "AXHasPopup") || n.role == "AXPopUpButton" || n.role == "AXMenuButton", desktop.HasPopup)
	set(r.text(v, "AXOrientation") == "AXVerticalOrientation", desktop.Vertical)
	invalid := r.text(v, "AXInvalid")
	set(invalid != "" && invalid != "false", desktop.Invalid)
	set(r.text(v, "AXMenuItemMarkChar") != "", desktop.Checkable|desktop.Checked)
	for _, name := range []string{"AXExpanded", "AXDisclosing"} {
		set(r.isPresent(v, name) || e.Role == desktop.Combobox, desktop.Expandable)
		set(r.isTrue(v, name), desktop.Expanded)
	}
	if e.Role.IsSetMember() && !e.Role.IsMenuItem() {
		set(r.isPresent(v, "AXSelected") || e.Role == desktop.Tab, desktop.Selectable)
		set(r.isTrue(v, "AXSelected"), desktop.Selected)
	}
	if n.role == "AXSheet" || is(e.Role, desktop.AlertDialog) {
		e.States |= desktop.Modal
	}
	if level := r.number(v, "AXDisclosureLevel"); e.Role == desktop.TreeItem && level >= 0 && level < maxDepth {
		e.Level = int(level) + 1
	}
	if isField(e.Role) || n.role == "AXComboBox" {
		if r.isSettable(ref, "AXValue") {
			e.States |= desktop.Editable
		} else {
			e.States |= desktop.ReadOnly
		}
		set(n.role == "AXTextArea", desktop.Multiline)
	}
}

// window sets the facts that only windows have.
func (r *reader) window(n *node, ref native.Ref) native.AXError {
	v, code := r.read(&n.pool, ref, r.windowed)
	if code != 0 {
		return code
	}
	e := &n.element
	if r.isTrue(v, "AXModal") {
		e.Role = desktop.Dialog
		e.States |= desktop.Modal
	}
	if r.isTrue(v, "AXMinimized") {
		e.States &^= desktop.Showing
		e.Frame = desktop.Rect{}
	}
	if r.front && r.focused != 0 && r.api.CFEqual(r.focused, ref) {
		e.States |= desktop.Active
	}
	return 0
}

// position sets the place of a member in its set.
func (r *reader) position(e *desktop.Element, parent *node, pos int) {
	if parent == nil || pos < 0 || !e.Role.IsSetMember() || parent.total <= pos {
		return
	}
	if e.Pos, e.Size = pos+1, parent.total; e.Role == desktop.Tab {
		e.Pos, e.Size = 0, 0 // the children of a group of tabs are also its pages
	}
}

// content sets value and bounds, and names that come from elsewhere. It does not ask for the value of a password field.
func (r *reader) content(n *node, v values, ref native.Ref, subrole string) native.AXError {
	e := &n.element
	if subrole == "AXSecureTextField" || n.role == "AXSecureTextField" {
		e.States |= desktop.Protected
		return r.nameByTitle(n, v)
	}
	hasText := isField(e.Role) || e.Role == desktop.Combobox
	isText := is(e.Role, desktop.Text, desktop.Label, desktop.Option, desktop.Heading)
	if hasText && !e.States.Has(desktop.Showing) || !hasText && !isText && !isCheckable(e.Role) && !hasNumber(e.Role) && e.Role != desktop.Tab && subrole != "AXToggle" {
		return r.nameByTitle(n, v)
	}
	own, code := r.read(&n.pool, ref, r.valued)
	if code != 0 {
		return code
	}
	number, hasValue := r.api.NumberOf(own["AXValue"])
	switch {
	case hasNumber(e.Role):
		if hasValue && e.States.Has(desktop.Showing) {
			e.Value = strconv.FormatFloat(number, 'f', -1, 64)
		}
		if e.Min, e.Max = r.number(own, "AXMinValue"), r.number(own, "AXMaxValue"); e.Min > e.Max {
			e.Min, e.Max = 0, 0
		}
		if r.isSettable(ref, "AXValue") {
			e.States |= desktop.Editable
		}
	case isCheckable(e.Role) || subrole == "AXToggle":
		const mixed = 2
		e.States |= desktop.Checkable
		if number == mixed {
			e.States |= desktop.Mixed
		} else if number != 0 {
			e.States |= desktop.Checked
		}
	case e.Role == desktop.Tab:
		if number != 0 {
			e.States |= desktop.Selected
		}
	case isText:
		if text := r.api.TextOf(own["AXValue"], maxName); text != "" {
			e.Name = text
		}
		if e.Role == desktop.Heading && number >= 1 && number < maxDepth {
			e.Level = int(number)
		}
	default:
		e.Value = r.value(own["AXValue"])
	}
	if code = r.nameByTitle(n, v); code == 0 && e.Name == "" && hasText {
		e.Name = r.text(own, "AXPlaceholderValue")
	}
	return code
}

// value returns the text of a value, cut unless the reader reads completely.
func (r *reader) value(ref native.Ref) string {
	if r.complete {
		return r.api.TextOf(ref, maxValue)
	}
	return cut(r.api.TextOf(ref, desktop.MaxValue), desktop.MaxValue)
}

// nameByTitle names an element without a name by the element that the app calls its title.
func (r *reader) nameByTitle(n *node, v values) native.AXError {
	title := v["AXTitleUIElement"]
	if n.element.Name != "" || r.api.TypeOf(title) != native.Element {
		return 0
	}
	for _, name := range []string{"AXValue", "AXTitle", "AXDescription"} {
		value, code := r.attribute(&n.pool, title, name)
		if code == native.ErrInvalidElement {
			return 0
		} else if code != 0 {
			return code
		}
		if n.element.Name = r.api.TextOf(value, maxName); n.element.Name != "" {
			break
		}
	}
	return 0
}

// actions returns our names for the actions of an element, the default one first.
func (r *reader) actions(ref native.Ref) ([]string, native.AXError) {
	var pool = native.Pool{API: r.api}
	defer pool.Drain()
	var array native.Ref
	if code := r.api.AXUIElementCopyActionNames(ref, &array); code != 0 {
		return nil, onlyFatal(code)
	}
	pool.Own(array)
	return orderActions(r.actionTexts(array)), 0
}

// actionTexts returns the names of macOS in an array.
func (r *reader) actionTexts(array native.Ref) []string {
	const most = 64
	var names []string
	for _, member := range r.api.Members(array) {
		if name := r.api.TextOf(member, maxName); name != "" && len(names) < most {
			names = append(names, name)
		}
	}
	return names
}
