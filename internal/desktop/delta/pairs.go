package delta

import "github.com/gybob/aai-gateway/internal/desktop"

// pairs maps the elements of each snapshot to the index of the same element in the other one, or -1.
type pairs struct {
	before, after *desktop.Snapshot
	toAfter       []int // by index in the earlier snapshot
	toBefore      []int // by index in the later snapshot
}

// pair pairs the same elements: first by their IDs, then, from the windows down, by their positions.
func pair(before, after *desktop.Snapshot) pairs {
	p := pairs{before: before, after: after, toAfter: make([]int, len(before.Elements)), toBefore: make([]int, len(after.Elements))}
	byID := make(map[desktop.ID]int, len(before.Elements))
	for i := range before.Elements {
		p.toAfter[i] = -1
		byID[before.Elements[i].ID] = i
	}
	for i := range after.Elements {
		e := &after.Elements[i]
		p.toBefore[i] = -1
		if j, ok := byID[e.ID]; ok && before.Elements[j].Role == e.Role && p.toAfter[j] < 0 {
			p.join(j, i)
		}
	}
	p.siblings(-1, -1)
	for i := range after.Elements {
		if j := p.toBefore[i]; j >= 0 {
			p.siblings(j, i)
		}
	}
	return p
}

func (p *pairs) join(before, after int) {
	p.toAfter[before], p.toBefore[after] = after, before
}

// A siblingKey holds the properties by which two siblings count as the same.
type siblingKey struct {
	role desktop.Role
	name string
}

// siblings pairs the still unpaired children of two elements, or windows: by role and name in their order,
// then those that are the only ones of their role.
func (p *pairs) siblings(before, after int) {
	var fresh []int
	for _, i := range p.after.Children(after) {
		if p.toBefore[i] < 0 {
			fresh = append(fresh, i)
		}
	}
	if len(fresh) == 0 {
		return
	}
	byLook, byRole := make(map[siblingKey][]int), make(map[desktop.Role][]int)
	for _, j := range p.before.Children(before) {
		if p.toAfter[j] < 0 {
			e := &p.before.Elements[j]
			byLook[siblingKey{e.Role, e.Name}] = append(byLook[siblingKey{e.Role, e.Name}], j)
		}
	}
	for _, i := range fresh {
		e := &p.after.Elements[i]
		if same := byLook[siblingKey{e.Role, e.Name}]; len(same) > 0 {
			p.join(same[0], i)
			byLook[siblingKey{e.Role, e.Name}] = same[1:]
		}
	}
	for _, same := range byLook {
		for _, j := range same {
			byRole[p.before.Elements[j].Role] = append(byRole[p.before.Elements[j].Role], j)
		}
	}
	left := make(map[desktop.Role][]int)
	for _, i := range fresh {
		if p.toBefore[i] < 0 {
			left[p.after.Elements[i].Role] = append(left[p.after.Elements[i].Role], i)
		}
	}
	for role, news := range left {
		// A page with another name is another page.
		if olds := byRole[role]; len(news) == 1 && len(olds) == 1 && role != desktop.Document {
			p.join(olds[0], news[0])
		}
	}
}

// reordered reports whether children of an element that exist in both snapshots have another order now.
// Only children for which counts returns true matter. It ignores Virtual elements, which reuse their
// children.
func (p *pairs) reordered(i int, counts func(before, after int) bool) bool {
	was := p.toBefore[i]
	if was < 0 || p.after.Elements[i].States.Has(desktop.Virtual) {
		return false
	}
	last := -1
	for child := i + 1; child < p.after.Elements[i].End; child = p.after.Elements[child].End {
		j := p.toBefore[child]
		if j < 0 || p.before.Elements[j].Parent != was || p.before.Elements[j].ID != p.after.Elements[child].ID || !counts(j, child) {
			continue
		}
		if j < last {
			return true
		}
		last = j
	}
	return false
}
