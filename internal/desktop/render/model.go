package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// An entry is an element that an outline may show. Entries are in the order of the snapshot.
type entry struct {
	elem        int // its index in the snapshot
	parent, end int // as in Element, but indexes of entries
	acts        bool
	hasRef      bool
	hidden      bool
	rendered    bool   // shown on earlier pages, and here only as a parent
	mixed       bool   // a text with actionable elements in it: its words are shown in order
	titled      bool   // a page named by its window's title: its focus is implied
	removed     bool   // omitted; its children move to its parent
	closed      int    // for a menu bar or a button: number of items in closed menus
	acting      int    // number of actionable entries in its subtree, itself included
	refs        int    // number of entries with a ref in its subtree, itself included
	shape       uint64 // hash, equal for similar subtrees
	frame       *frame // the browser's frame that it represents
	framed      bool   // a window that contains the entry of its frame, whose line shows the window's ref
}

// A model is the part of a snapshot that an outline covers, without elements that mean nothing to people.
type model struct {
	snapshot          *desktop.Snapshot
	options           Options
	first, last       int  // range of elements: from first to before last
	offscreen         bool // it covers off-screen elements
	includesOffscreen bool // off-screen elements are included like showing ones
	hasOffscreen      bool // it excludes off-screen elements that exist
	nodes             []entry
	refs              []string // of the elements from first on, if already requested
}

func newModel(s *desktop.Snapshot, o Options, as form) *model {
	k := &model{snapshot: s, options: o, last: len(s.Elements), offscreen: IsOffscreenCursor(o.After)}
	k.includesOffscreen = !k.offscreen && o.Root >= 0 && s.IsOffscreen(o.Root)
	if o.Root >= 0 {
		k.first, k.last = o.Root, s.Elements[o.Root].End
	}
	k.refs = make([]string, k.last-k.first)
	k.collect()
	k.dropUnseenBars()
	k.dropLabels()
	k.dropHollow()
	k.compact()
	k.frames(as)
	k.measure()
	return k
}

func (k *model) element(n int) *desktop.Element { return &k.snapshot.Elements[k.nodes[n].elem] }

// ref returns the element's ref, and requests it only once.
func (k *model) ref(elem int) string {
	at := &k.refs[elem-k.first]
	if *at == "" {
		*at = aai.CleanLabel(k.options.Ref(elem), 24)
	}
	return *at
}

// assignRefs numbers the elements if Options.Ref is nil.
func (k *model) assignRefs() {
	given := 0
	give := func(elem int) {
		given++
		k.refs[elem-k.first] = "e" + strconv.Itoa(given)
	}
	for i := range k.nodes {
		n := &k.nodes[i]
		if n.hasRef {
			give(n.elem)
		}
		if n.frame != nil {
			for _, tab := range n.frame.tabs {
				give(tab)
			}
		}
	}
}

// total counts the actionable entries.
func (k *model) total() int {
	total := 0
	for i := range k.nodes {
		if k.nodes[i].acts {
			total++
		}
	}
	return total
}

// collect makes entries of the visible and meaningful elements.
func (k *model) collect() {
	k.nodes = make([]entry, 0, (k.last-k.first)/2+1)
	within := make([]int, k.last-k.first)  // the entry that contains or is each element
	beyond := make([]bool, k.last-k.first) // whether each is out of view
	elements := k.snapshot.Elements
	for i := k.first; i < k.last; {
		e := &elements[i]
		parent := -1
		if e.Parent >= k.first && i != k.options.Root {
			parent = within[e.Parent-k.first]
		}
		out := e.Parent >= k.first && i != k.options.Root && beyond[e.Parent-k.first]
		tell, told := k.visibility(i, out)
		if !tell {
			k.hasOffscreen = k.hasOffscreen || !k.offscreen && e.States.Has(desktop.Offscreen)
			k.countClosed(i, parent)
			i = e.End
			continue
		}
		within[i-k.first], beyond[i-k.first] = parent, out || i != k.options.Root && !e.States.Has(desktop.Showing)
		if acts := e.IsActionable(k.parentRole(parent)); acts || i == k.options.Root || k.isMeaningful(e, parent) {
			within[i-k.first] = len(k.nodes)
			hidden := k.options.Hidden && !e.States.Has(desktop.Showing) || i == k.options.Root && !k.offscreen && !k.includesOffscreen && !e.States.Has(desktop.Showing)
			hidden = hidden || parent >= 0 && k.nodes[parent].hidden
			k.nodes = append(k.nodes, entry{
				elem: i, parent: parent, acts: acts && !told, hasRef: acts || e.Role.IsRefContainer(), hidden: hidden, rendered: told, mixed: acts && k.spelledOut(i) || !acts && k.mixesTextAndControls(i),
			})
		}
		i++
	}
	k.close()
}

func (k *model) parentRole(parent int) desktop.Role {
	if parent < 0 {
		return ""
	}
	return k.element(parent).Role
}

// close sets end of the entries.
func (k *model) close() {
	for i := len(k.nodes) - 1; i >= 0; i-- {
		n := &k.nodes[i]
		n.end = max(n.end, i+1)
		if n.parent >= 0 {
			k.nodes[n.parent].end = max(k.nodes[n.parent].end, n.end)
		}
	}
}

// countClosed adds the items of a closed menu to its menu bar or button.
func (k *model) countClosed(elem, parent int) {
	for ; parent >= 0; parent = k.nodes[parent].parent {
		switch e := &k.snapshot.Elements[elem]; k.element(parent).Role {
		case desktop.Menubar:
		case desktop.Button:
			if e.Role != desktop.Menu || e.Parent != k.nodes[parent].elem {
				return
			}
		default:
			continue
		}
		for i := elem; i < k.snapshot.Elements[elem].End; i++ {
			if k.snapshot.Elements[i].Role.IsMenuItem() {
				k.nodes[parent].closed++
			}
		}
		return
	}
}

// isMeaningful reports whether an element that is not actionable is worth a line.
func (k *model) isMeaningful(e *desktop.Element, parent int) bool {
	switch {
	case e.Role == desktop.Scrollbar || e.Role == desktop.Separator:
		return false
	case e.Role == desktop.Generic || e.Role == desktop.Group || e.Role == desktop.Region || e.Role == desktop.Article || e.Role.IsTextual():
		if e.IsBlank() {
			return false
		}
	}
	return parent < 0 || k.nodes[parent].mixed && e.Role.IsTextual() || !e.RepeatsParent(k.truncated(parent))
}

// truncated returns an entry with its name and value cut as in the fullest detail. Elements inside it then show the
// rest.
func (k *model) truncated(node int) *desktop.Element {
	e, most := *k.element(node), details()[0]
	if k.nodes[node].acts || !e.Role.IsTextual() {
		e.Name = aai.CleanLabel(e.Name, most.name)
	}
	if !e.States.Has(desktop.Editable) {
		e.Value = aai.CleanLabel(e.Value, most.value)
	}
	return &e
}

// spelledOut reports whether the element is pressable, its name is longer than its line shows, and its
// descendants contain the complete name.
func (k *model) spelledOut(i int) bool {
	e := &k.snapshot.Elements[i]
	if !e.IsPressableDespiteRole() || len(e.Name) <= details()[0].name {
		return false
	}
	left := strings.Fields(e.Name)
	for c := i + 1; c < e.End; c++ {
		words := strings.Fields(k.snapshot.Elements[c].Name)
		if len(words) > len(left) || !slices.Equal(words, left[:len(words)]) {
			return false
		}
		if left = left[len(words):]; len(words) > 0 {
			c = k.snapshot.Elements[c].End - 1
		}
	}
	return len(left) == 0
}

// mixesTextAndControls reports whether the element is a text with both words and actionable elements. An
// actionable element at the end of a heading does not count, because it can be shown after it.
func (k *model) mixesTextAndControls(i int) bool {
	role := k.snapshot.Elements[i].Role
	if !role.IsTextual() || role == desktop.Image {
		return false
	}
	words, acts, within := false, false, ""
	for c := i + 1; c < k.snapshot.Elements[i].End; c++ {
		e := &k.snapshot.Elements[c]
		if tell, _ := k.visibility(c, false); !tell {
			continue
		}
		within += strings.Join(strings.Fields(e.Name+e.Value), "")
		if e.IsActionable("") {
			acts = true
			c = e.End - 1
			continue
		}
		words = words || e.Role.IsTextual() && !e.IsBlank() && (acts || role != desktop.Heading)
	}
	if !words || !acts {
		return false
	}
	// In Firefox words of the text's own are no elements.
	return !slices.ContainsFunc(strings.Fields(k.snapshot.Elements[i].Name), func(word string) bool { return !strings.Contains(within, word) })
}

// dropUnseenBars removes invisible menu bars with their contents if their window has a visible one:
// LibreOffice exposes its own in addition to the drawn one.
func (k *model) dropUnseenBars() {
	bars := make(map[int][]int) // by window
	for i := range k.nodes {
		if k.element(i).Role == desktop.Menubar {
			window := k.snapshot.WindowOf(k.nodes[i].elem)
			bars[window] = append(bars[window], i)
		}
	}
	unseen := func(i int) bool { return k.element(i).Frame.Empty() }
	for _, all := range bars {
		if !slices.ContainsFunc(all, func(i int) bool { return !unseen(i) }) {
			continue
		}
		for _, bar := range all {
			for i := bar; unseen(bar) && i < k.nodes[bar].end; i++ {
				k.nodes[i].removed = true
			}
		}
	}
}

// dropLabels removes labels next to the elements that they name.
func (k *model) dropLabels() {
	previous := make(map[int]int) // the last child so far of each parent
	for i := range k.nodes {
		n := &k.nodes[i]
		before, some := previous[n.parent]
		previous[n.parent] = i
		if !some {
			continue
		}
		if k.labels(before, i) {
			k.nodes[before].removed = true
		} else if k.labels(i, before) {
			n.removed = true
		}
	}
}

// labels reports whether one entry is only the label of the other.
func (k *model) labels(label, other int) bool {
	n, e := &k.nodes[label], k.element(label)
	return n.end == label+1 && !n.acts && (e.Role == desktop.Label || e.Role == desktop.Text) && e.Value == "" &&
		k.nodes[other].acts && desktop.EqualNames(e.Name, k.element(other).Name)
}

// dropHollow removes empty entries, and texts around a single child with the same words.
func (k *model) dropHollow() {
	children := make([]int, len(k.nodes)) // number of live children
	only := make([]int, len(k.nodes))     // the first live child
	for i := len(k.nodes) - 1; i >= 0; i-- {
		n := &k.nodes[i]
		if n.rendered {
			n.removed = children[i] == 0
		} else if !n.removed && !n.acts && n.parent >= 0 {
			e := k.element(i)
			switch {
			case children[i] == 0 && e.IsBlank() && e.UnreadChildren == 0 && !e.States.Has(desktop.Focusable):
				n.removed = e.Role != desktop.Cell || k.element(n.parent).Role != desktop.Row
			case children[i] == 1 && e.Role.IsTextual():
				n.removed = k.nodes[only[i]].acts && desktop.EqualNames(e.Name, k.element(only[i]).Name)
			}
		}
		if n.parent < 0 {
			continue
		}
		switch {
		case !n.removed:
			children[n.parent]++
			only[n.parent] = i
		case children[i] > 0:
			children[n.parent] += children[i]
			only[n.parent] = only[i]
		}
	}
	k.dropBareWindows(children)
}

// dropBareWindows removes windows without name and contents, such as Chromium's hidden pop-ups, if there
// are others.
func (k *model) dropBareWindows(children []int) {
	bare := func(i int) bool {
		e := k.element(i)
		return e.Role == desktop.Window && e.IsBlank() && children[i] == 0 && e.UnreadChildren == 0 && !k.nodes[i].acts && !e.States.Has(desktop.Active)
	}
	some := false
	for i := range k.nodes {
		some = some || k.nodes[i].parent < 0 && !bare(i)
	}
	for i := range k.nodes {
		if some && k.nodes[i].parent < 0 && bare(i) {
			k.nodes[i].removed = true
		}
	}
}

// compact deletes the removed entries and moves their children up.
func (k *model) compact() {
	moved := make([]int, len(k.nodes)) // new index of each entry, or of its nearest ancestor
	live := k.nodes[:0]
	for i, n := range k.nodes {
		if n.parent >= 0 {
			n.parent = moved[n.parent]
		}
		moved[i] = n.parent
		if !n.removed {
			moved[i] = len(live)
			n.end = 0
			live = append(live, n)
		}
	}
	k.nodes = live
	k.close()
}

// distinctStates are the states in which rows must agree to be folded, because a model would look for them.
const distinctStates = desktop.Focused | desktop.Checked | desktop.Mixed | desktop.Pressed | desktop.Selected | desktop.Expanded | desktop.Invalid | desktop.Busy | desktop.Enabled

// measure counts the contents of each subtree and computes its shape.
func (k *model) measure() {
	for i := len(k.nodes) - 1; i >= 0; i-- {
		n, e := &k.nodes[i], k.element(i)
		own := uint64(14695981039346656037) // FNV-1a
		mix := func(v uint64) { own = (own ^ v) * 1099511628211 }
		for at := range len(e.Role) {
			mix(uint64(e.Role[at]))
		}
		if n.acts {
			n.acting++
			mix(uint64(e.States & distinctStates))
		}
		if n.hasRef && !n.rendered {
			n.refs++
			mix(1)
		}
		mix(n.shape) // of the children, in reverse order
		n.shape = own
		if n.parent >= 0 {
			p := &k.nodes[n.parent]
			p.acting += n.acting
			p.refs += n.refs
			p.shape = p.shape*31 + own
		}
	}
}
