package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// An entry is an element that an outline may show. Entries stand in the order of the
// snapshot.
type entry struct {
	elem        int // its index in the snapshot
	parent, end int // as in Element, but of nodes
	acts        bool
	hasRef      bool
	hidden      bool
	rendered    bool   // on the pages before, and here only for what is in it
	mixed       bool   // a text with something in it to act on: its words are told in their order
	titled      bool   // a page that its window's title names: that keys go to it goes without saying
	removed     bool   // left out, with its children lifted to its parent
	closed      int    // of a menu bar: how many items are in closed menus
	acting      int    // how many act in its subtree, itself included
	refs        int    // how many have a ref in its subtree, itself included
	shape       uint64 // the same for subtrees made alike
	frame       *frame // what it stands for of a browser, besides itself
	framed      bool   // a window with such an entry in it, whose line tells the window's ref
}

// A sketch is the part of a snapshot that an outline is of, without what has no
// meaning for people.
type model struct {
	snapshot          *desktop.Snapshot
	options           Options
	first, last       int  // the elements it is of: from first to before last
	offscreen         bool // it is of what is out of view
	includesOffscreen bool // what is out of view is in it like what shows
	hasOffscreen      bool // something is out of view and not in it
	nodes             []entry
	refs              []string // of the elements from first on, as far as they were asked for
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

// ref is the element's ref, asked for once.
func (k *model) ref(elem int) string {
	at := &k.refs[elem-k.first]
	if *at == "" {
		*at = aai.CleanLabel(k.options.Ref(elem), 24)
	}
	return *at
}

// assignRefs gives out refs where there is nobody else to do it.
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

// total counts the nodes that act.
func (k *model) total() int {
	total := 0
	for i := range k.nodes {
		if k.nodes[i].acts {
			total++
		}
	}
	return total
}

// collect makes nodes of what shows and means something.
func (k *model) collect() {
	k.nodes = make([]entry, 0, (k.last-k.first)/2+1)
	within := make([]int, k.last-k.first)  // the node that each element is in or is
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

// close fills in End of the nodes.
func (k *model) close() {
	for i := len(k.nodes) - 1; i >= 0; i-- {
		n := &k.nodes[i]
		n.end = max(n.end, i+1)
		if n.parent >= 0 {
			k.nodes[n.parent].end = max(k.nodes[n.parent].end, n.end)
		}
	}
}

// countClosed adds the items of a closed menu to the bar it hangs from.
func (k *model) countClosed(elem, parent int) {
	for ; parent >= 0; parent = k.nodes[parent].parent {
		if k.element(parent).Role != desktop.Menubar {
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

// isMeaningful reports whether an element that does not act is worth a line.
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

// truncated returns a node with the name and the value that its line has at the most: words that
// stand behind those are told by the elements within.
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

// spelledOut reports whether the element is pressed, has a longer name than its line shows,
// and the elements within say all of that name.
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

// mixesTextAndControls reports whether the element is a text in which stand both words of their own and
// something to act on; where that is at the end of a heading, it may be told after it.
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

// dropUnseenBars leaves out menu bars that nobody sees, and what is in them, where their
// window has one that is seen: LibreOffice tells of its own beside the one that is drawn.
func (k *model) dropUnseenBars() {
	bars := make(map[int][]int) // those of each window
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

// dropLabels leaves out labels that stand next to what they are the name of.
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

// labels reports whether one node is only the label of the other.
func (k *model) labels(label, other int) bool {
	n, e := &k.nodes[label], k.element(label)
	return n.end == label+1 && !n.acts && (e.Role == desktop.Label || e.Role == desktop.Text) && e.Value == "" &&
		k.nodes[other].acts && desktop.EqualNames(e.Name, k.element(other).Name)
}

// dropHollow leaves out what holds nothing, and words around the one thing that
// has the same words.
func (k *model) dropHollow() {
	children := make([]int, len(k.nodes)) // how many live ones each has
	only := make([]int, len(k.nodes))     // the first of them
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

// dropBareWindows leaves out windows that have neither a name nor anything in them, such as
// Chromium's pop-ups in waiting, beside others.
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

// compact takes the dead nodes out and lifts their children.
func (k *model) compact() {
	moved := make([]int, len(k.nodes)) // where each is now, or the nearest that it is in
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

// distinctStates are the states that rows alike must have in common to be told in one
// line, because a model would look for them.
const distinctStates = desktop.Focused | desktop.Checked | desktop.Mixed | desktop.Pressed | desktop.Selected | desktop.Expanded | desktop.Invalid | desktop.Busy | desktop.Enabled

// measure counts what is in each subtree and takes its shape.
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
		mix(n.shape) // of the children, the last first
		n.shape = own
		if n.parent >= 0 {
			p := &k.nodes[n.parent]
			p.acting += n.acting
			p.refs += n.refs
			p.shape = p.shape*31 + own
		}
	}
}
