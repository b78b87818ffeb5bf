package uiaprovider

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest/comwindow"
)

// A thing is an object of a client in memory: the automation itself, a condition, a request, a walker, an array or an element.
type thing struct {
	table   *[96]uintptr
	c       *clientServer
	refs    atomic.Int32
	matches func(e *desktop.Element) bool // of a condition
	scope   int                           // of a request
	props   []int32                       // of a request
	items   []*thing                      // of an array; each with a reference
	shot    []desktop.Element             // of an element: the program when it was cached, or nil
	at      int                           // index in shot
	id      desktop.ID
	allowed []int32 // properties that are cached
	loop    int     // the number of an element that a bad provider makes up
}

// A clientServer makes the objects of a client.
type clientServer struct {
	*server
	tables map[string]*[96]uintptr
	live   sync.Map
	window uintptr
	caches bool
}

// NewClient returns an IUIAutomation2 in memory whose only window shows the program. It has the patterns of Windows that Wine lacks, and
// the caches of trees if caches is true; the rest answers E_NOTIMPL. p.Live counts its objects and those of the program.
func NewClient(p *comwindow.Program, window uintptr, caches bool) unsafe.Pointer {
	c := &clientServer{server: newServer(p), tables: map[string]*[96]uintptr{}, window: window, caches: caches}
	c.fillClient()
	root := c.make("automation")
	p.Live.Store(0)
	return unsafe.Pointer(root)
}

func (c *clientServer) make(kind string) *thing {
	t := &thing{table: c.tables[kind], c: c}
	t.refs.Store(1)
	c.live.Store(t, true)
	c.Live.Add(1)
	return t
}

func (c *clientServer) give(t *thing, out *uintptr) uintptr {
	*out = uintptr(unsafe.Pointer(t))
	return ok
}

// fillClient makes the tables of functions. Methods that a table does not name answer E_NOTIMPL.
func (c *clientServer) fillClient() {
	missing := syscall.NewCallback(func(uintptr) uintptr { return 0x80004001 })
	hold := syscall.NewCallback(func(t *thing) uintptr { return uintptr(t.refs.Add(1)) })
	release := syscall.NewCallback(c.drop)
	query := syscall.NewCallback(func(t *thing, _ *windows.GUID, out *uintptr) uintptr {
		t.refs.Add(1)
		return c.give(t, out)
	})
	done := syscall.NewCallback(func(uintptr) uintptr { return ok })
	for kind, methods := range c.methods() {
		all := &[96]uintptr{query, hold, release}
		for i := range all {
			if all[i] == 0 {
				all[i] = missing
			}
		}
		for i, f := range methods {
			all[i] = syscall.NewCallback(f)
		}
		if kind == "automation" {
			all[59], all[61], all[63] = done, done, done
		}
		c.tables[kind] = all
	}
}

// methods returns the functions of each kind of thing by their indexes in the table.
func (c *clientServer) methods() map[string]map[int]any {
	all := func(*desktop.Element) bool { return true }
	return map[string]map[int]any{
		"condition": nil, "unsupported": nil,
		"automation": {
			6: func(_ *thing, window uintptr, out *uintptr) uintptr { return c.top(window, nil, out) },
			10: func(_ *thing, window uintptr, request *thing, out *uintptr) uintptr {
				return c.top(window, request, out)
			},
			13: func(_, _ *thing, out *uintptr) uintptr { return c.give(c.make("walker"), out) },
			18: func(_ *thing, out *uintptr) uintptr { return c.newCondition(all, out) },
			20: func(_ *thing, out *uintptr) uintptr { return c.give(c.make("request"), out) },
			21: func(_ *thing, out *uintptr) uintptr { return c.newCondition(all, out) },
			23: c.propertyCondition,
			25: func(_, a, b *thing, out *uintptr) uintptr {
				return c.newCondition(func(e *desktop.Element) bool { return a.matches(e) && b.matches(e) }, out)
			},
		},
		"request": {
			3: func(t *thing, id int32) uintptr { t.props = append(t.props, id); return ok },
			7: c.setScope,
			9: func(_, _ *thing) uintptr { return ok },
		},
		"array": {
			3: func(t *thing, out *int32) uintptr { *out = int32(len(t.items)); return ok },
			4: func(t *thing, i int32, out *uintptr) uintptr { t.items[i].refs.Add(1); return c.give(t.items[i], out) },
		},
		"walker": {
			3:  func(_, e *thing, out *uintptr) uintptr { return c.move(e, parent, nil, out) },
			10: func(_, e, request *thing, out *uintptr) uintptr { return c.move(e, firstChild, request, out) },
			12: func(_, e, request *thing, out *uintptr) uintptr { return c.move(e, next, request, out) },
		},
		"element": {
			3: func(e *thing) uintptr {
				return c.execute(&face{owner: &object{id: e.id}}, desktop.Act{Verb: desktop.TakeFocus})
			},
			5: c.findFirst, 8: c.findAll, 9: c.update, 11: c.current, 13: c.cached, 16: c.patternOfElement, 19: c.children,
		},
	}
}

func (c *clientServer) setScope(t *thing, scope int32) uintptr {
	if scope != 1 && !c.caches {
		return 0x80004001
	}
	t.scope = int(scope)
	return ok
}

func (c *clientServer) drop(t *thing) uintptr {
	n := t.refs.Add(-1)
	if n == 0 {
		c.live.Delete(t)
		c.Live.Add(-1)
		for _, item := range t.items {
			c.drop(item)
		}
	}
	return uintptr(uint32(n))
}

func (c *clientServer) newCondition(matches func(*desktop.Element) bool, out *uintptr) uintptr {
	t := c.make("condition")
	t.matches = matches
	return c.give(t, out)
}

func (c *clientServer) propertyCondition(_ *thing, id int32, value *variant, out *uintptr) uintptr {
	if id == 30000 {
		numbers := *(**int32)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(&value.value)), 16))
		wanted := *(*int32)(unsafe.Add(unsafe.Pointer(numbers), 8))
		return c.newCondition(func(e *desktop.Element) bool { return number(e.ID) == wanted }, out)
	}
	truth := uint16(value.value) != 0
	return c.newCondition(func(e *desktop.Element) bool { return Property(e, id) == truth }, out)
}

// number returns the number in the ID of an element.
func number(id desktop.ID) int32 {
	n, _ := strconv.Atoi(strings.TrimPrefix(string(id), "/fake/"))
	return int32(n)
}

// element returns a new element, cached if there is a request.
func (c *clientServer) element(shot []desktop.Element, at int, request *thing) *thing {
	t := c.make("element")
	t.id = shot[at].ID
	if request != nil {
		t.shot, t.at, t.allowed, t.scope = shot, at, request.props, request.scope
	}
	return t
}

func (c *clientServer) top(window uintptr, request *thing, out *uintptr) uintptr {
	c.Wait()
	*out = 0
	shot := c.Elements()
	if window != c.window || len(shot) == 0 {
		return notAvailable
	}
	return c.give(c.element(shot, 0, request), out)
}

// locate returns the program now and the index of an element, or a failure.
func (c *clientServer) locate(e *thing) ([]desktop.Element, int) {
	c.Wait()
	shot := c.Elements()
	return shot, slices.IndexFunc(shot, func(o desktop.Element) bool { return o.ID == e.id })
}

func (c *clientServer) move(e *thing, direction int, request *thing, out *uintptr) uintptr {
	*out = 0
	shot, own := c.locate(e)
	if own < 0 {
		return notAvailable
	}
	to := neighbor(shot, own, direction)
	switch name := shot[own].Name; {
	case c.Fault == Cycle && name == "Press" && direction == firstChild:
		to = 0
	case c.Fault == OwnChild && name == "Press" && direction == firstChild:
		to = own
	case c.Fault == Endless && name == "Press" && direction == next:
		t := c.element(shot, own, request)
		t.loop = e.loop + 1
		return c.give(t, out)
	case e.loop > 0:
		return ok
	}
	if to >= 0 {
		c.give(c.element(shot, to, request), out)
	}
	return ok
}

func (c *clientServer) update(e, request *thing, out *uintptr) uintptr {
	*out = 0
	shot, own := c.locate(e)
	if own < 0 {
		return notAvailable
	}
	t := c.element(shot, own, request)
	t.loop = e.loop
	return c.give(t, out)
}

// within lists the indexes of the elements in a scope that match a condition.
func within(shot []desktop.Element, own, scope int, matches func(*desktop.Element) bool) []int {
	var all []int
	for i := range shot {
		above := i
		for above > own && scope == 7 {
			above = shot[above].Parent
		}
		if (scope == 7 && above == own || scope == 2 && i > 0 && shot[i].Parent == own) && matches(&shot[i]) {
			all = append(all, i)
		}
	}
	return all
}

func (c *clientServer) findFirst(e *thing, scope int32, condition *thing, out *uintptr) uintptr {
	*out = 0
	shot, own := c.locate(e)
	if own < 0 {
		return notAvailable
	}
	if found := within(shot, own, int(scope), condition.matches); len(found) > 0 {
		c.give(c.element(shot, found[0], nil), out)
	}
	return ok
}

func (c *clientServer) findAll(e *thing, scope int32, condition, request *thing, out *uintptr) uintptr {
	*out = 0
	shot, own := c.locate(e)
	if own < 0 {
		return notAvailable
	}
	return c.give(c.array(shot, within(shot, own, int(scope), condition.matches), request), out)
}

func (c *clientServer) array(shot []desktop.Element, indexes []int, request *thing) *thing {
	t := c.make("array")
	for _, i := range indexes {
		t.items = append(t.items, c.element(shot, i, request))
	}
	return t
}

func (c *clientServer) children(e *thing, out *uintptr) uintptr {
	*out = 0
	if e.shot == nil || e.scope != 7 {
		return invalidOperation
	}
	all := within(e.shot, e.at, 2, func(*desktop.Element) bool { return true })
	if len(all) > 0 {
		c.give(c.array(e.shot, all, &thing{props: e.allowed, scope: e.scope}), out)
	}
	return ok
}

func (c *clientServer) cached(e *thing, id, _ int32, out *variant) uintptr {
	*out = variant{}
	if e.shot == nil || !slices.Contains(e.allowed, id) {
		return invalidArgument
	}
	return c.report(&e.shot[e.at], e.loop, id, out)
}

func (c *clientServer) current(e *thing, id, _ int32, out *variant) uintptr {
	c.Wait()
	*out = variant{}
	now, found := c.Read(e.id)
	if !found {
		return notAvailable
	}
	return c.report(&now, e.loop, id, out)
}

// report writes a property, or the object that means that the element does not support it.
func (c *clientServer) report(e *desktop.Element, loop int, id int32, out *variant) uintptr {
	value := c.misreport(e, id)
	switch id {
	case 30000:
		value = []int32{42, int32(c.window), number(e.ID), int32(loop)}
	case 30001:
		out.vt, out.value = 0x2005, uint64(c.rectangle(e.Frame))
		return ok
	}
	if value == nil {
		t := c.make("unsupported")
		out.vt, out.value = 13, uint64(uintptr(unsafe.Pointer(t)))
		return ok
	}
	c.store(value, out)
	return ok
}

func (c *clientServer) rectangle(r desktop.Rect) uintptr {
	a, _, _ := c.newArray.Call(5, 0, 4)
	for i, n := range []int{r.X, r.Y, r.W, r.H} {
		index, bits := int32(i), math.Float64bits(float64(n))
		_, _, _ = c.setItem.Call(a, uintptr(unsafe.Pointer(&index)), uintptr(unsafe.Pointer(&bits)))
	}
	return a
}

func (c *clientServer) patternOfElement(e *thing, id int32, out *uintptr) uintptr {
	c.Wait()
	*out = 0
	o := c.newObject(e.id, false)
	if k, known := c.patterns[id]; known && c.offers(o, k) {
		*out = uintptr(unsafe.Pointer(&o.faces[k]))
		return ok
	}
	c.release(&o.faces[simple])
	return ok
}
