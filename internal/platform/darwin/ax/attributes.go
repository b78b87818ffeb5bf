//go:build darwin || axdouble

package ax

import (
	"math"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

// The attributes that are read together. AXValue is not among those of every element, since the element may be a password field.
const (
	commonAttributes = "AXRole AXSubrole AXTitle AXDescription AXEnabled AXFocused AXPosition AXSize AXIdentifier AXDOMIdentifier AXHelp " +
		"AXTitleUIElement AXSelected AXExpanded AXDisclosing AXDisclosureLevel AXHidden AXOrientation AXRequired AXInvalid AXElementBusy " +
		"AXHasPopup AXMenuItemMarkChar AXRoleDescription"
	valueAttributes  = "AXValue AXMinValue AXMaxValue AXPlaceholderValue"
	windowAttributes = "AXModal AXMinimized AXDefaultButton"
)

// An attributeList is a list of attributes that one request reads.
type attributeList struct {
	names []string
	array native.Ref
}

func newAttributeList(api *native.API, words string) attributeList {
	names := strings.Fields(words)
	keys := make([]native.Ref, len(names))
	for i, name := range names {
		keys[i] = api.Name(name)
	}
	return attributeList{names, api.NewArray(keys...)}
}

// values are attributes of one element; those without a value are missing. They live as long as their pool.
type values map[string]native.Ref

// read reads attributes of an element.
func (r *reader) read(pool *native.Pool, ref native.Ref, list attributeList) (values, native.AXError) {
	var array native.Ref
	const keepErrors = 0
	err := r.api.AXUIElementCopyMultipleAttributeValues(ref, list.array, keepErrors, &array)
	pool.Own(array)
	members := r.api.Members(array)
	found := make(values, len(list.names))
	switch {
	case err == native.ErrNotImplemented || err == native.ErrFailure || err == 0 && len(members) != len(list.names):
		for _, name := range list.names { // the app answers only one at a time
			value, err := r.attribute(pool, ref, name)
			if err != 0 {
				return nil, err
			}
			found[name] = value
		}
		return found, 0
	case err != 0:
		return nil, err
	}
	for i, name := range list.names {
		if !r.api.IsError(members[i]) {
			found[name] = members[i]
		}
	}
	return found, 0
}

// attribute reads one attribute; 0 if it has no value.
func (r *reader) attribute(pool *native.Pool, ref native.Ref, name string) (native.Ref, native.AXError) {
	var value native.Ref
	err := r.api.AXUIElementCopyAttributeValue(ref, r.api.Name(name), &value)
	pool.Own(value)
	if err != 0 && !isFatal(err) {
		return 0, 0
	}
	return value, err
}

// isFatal reports whether an error concerns the app or the element, and not one attribute.
func isFatal(err native.AXError) bool {
	return err == native.ErrCannotComplete || err == native.ErrInvalidElement || err == native.ErrDisabled
}

// isSettable reports whether an attribute can be set.
func (r *reader) isSettable(ref native.Ref, name string) bool {
	var is byte
	return r.api.AXUIElementIsAttributeSettable(ref, r.api.Name(name), &is) == 0 && is != 0
}

// children reads the children of an element: all, or the first of those that show if they are too many. total is their number.
func (r *reader) children(pool *native.Pool, ref native.Ref, role string) (children []native.Ref, total int, err native.AXError) {
	name := "AXChildren"
	if role == "AXWebArea" || role != "AXOutline" && role != "AXTable" {
		if err = r.api.AXUIElementGetAttributeValueCount(ref, r.api.Name(name), &total); err != 0 {
			return nil, 0, onlyFatal(err)
		}
	} else if err = r.api.AXUIElementGetAttributeValueCount(ref, r.api.Name("AXRows"), &total); err == 0 {
		name = "AXRows" // the children of a table also contain its columns, which have the cells again
	} else if err = r.api.AXUIElementGetAttributeValueCount(ref, r.api.Name(name), &total); err != 0 {
		return nil, 0, onlyFatal(err)
	}
	if total <= 0 {
		return nil, 0, 0
	}
	if total > maxChildren {
		for _, showing := range []string{"AXVisibleRows", "AXVisibleChildren"} {
			value, e := r.attribute(pool, ref, showing)
			if e != 0 {
				return nil, 0, e
			}
			if members := r.elementsOf(value); len(members) > 0 {
				return members[:min(len(members), maxChildren)], total, 0
			}
		}
	}
	if children, err = r.page(pool, ref, name, 0, min(total, maxChildren)); total <= maxChildren {
		total = len(children) // an app may count members that are no elements
	}
	return children, total, err
}

// page reads some of the elements of an attribute.
func (r *reader) page(pool *native.Pool, ref native.Ref, name string, first, count int) ([]native.Ref, native.AXError) {
	var array native.Ref
	err := r.api.AXUIElementCopyAttributeValues(ref, r.api.Name(name), first, count, &array)
	pool.Own(array)
	if err != 0 {
		return nil, onlyFatal(err)
	}
	members := r.elementsOf(array)
	return members[:min(len(members), count)], 0
}

// onlyFatal returns the error if it is fatal.
func onlyFatal(err native.AXError) native.AXError {
	if isFatal(err) {
		return err
	}
	return 0
}

// elementsOf returns the elements of an array; an app may put anything into it.
func (r *reader) elementsOf(array native.Ref) []native.Ref {
	var elements []native.Ref
	for _, member := range r.api.Members(array) {
		if r.api.TypeOf(member) == native.Element {
			elements = append(elements, member)
		}
	}
	return elements
}

// text returns the text of an attribute.
func (r *reader) text(v values, name string) string { return r.api.TextOf(v[name], maxName) }

// number returns the number of an attribute; 0 if it has none.
func (r *reader) number(v values, name string) float64 {
	n, _ := r.api.NumberOf(v[name])
	return n
}

// isTrue reports whether an attribute is a true boolean.
func (r *reader) isTrue(v values, name string) bool { return r.number(v, name) != 0 }

// isPresent reports whether an attribute is a boolean or number.
func (r *reader) isPresent(v values, name string) bool {
	_, is := r.api.NumberOf(v[name])
	return is
}

// frame returns the rectangle of position and size; known is false if the element has none.
func (r *reader) frame(v values) (frame desktop.Rect, known bool) {
	at, hasPoint := r.api.PointOf(v["AXPosition"])
	size, hasSize := r.api.SizeOf(v["AXSize"])
	if !hasPoint || !hasSize {
		return frame, false
	}
	return rectOf(native.Rect{Origin: at, Size: size}), true
}

// rectOf rounds a rectangle to whole points.
func rectOf(r native.Rect) desktop.Rect {
	const limit = 1 << 30
	whole := func(n float64) int {
		if math.IsNaN(n) {
			return 0
		}
		return int(math.Round(max(-limit, min(limit, n))))
	}
	x, y := whole(r.Origin.X), whole(r.Origin.Y)
	return desktop.Rect{X: x, Y: y, W: max(0, whole(r.Origin.X+r.Size.W)-x), H: max(0, whole(r.Origin.Y+r.Size.H)-y)}
}
