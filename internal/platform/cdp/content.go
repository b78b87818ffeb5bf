package cdp

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A content is a document as page/read.js reads it: the columns of a table with a row for each element.
type content struct {
	Token   string  `json:"token"`
	URL     string  `json:"url"`
	Lang    string  `json:"lang"`
	Scale   float64 `json:"scale"`
	Width   int     `json:"width"` // of the viewport, in physical pixels
	Height  int     `json:"height"`
	Visible bool    `json:"visible"`
	Frames  []struct {
		At int `json:"at"` // its row
		ID int `json:"id"`
		X  int `json:"x"` // of its content
		Y  int `json:"y"`
	} `json:"frames"`
	Parents []int           `json:"parents"`
	IDs     []int           `json:"ids"`
	Roles   []desktop.Role  `json:"roles"`
	Names   []string        `json:"names"`
	Values  []string        `json:"values"`
	About   []string        `json:"about"`
	Keys    []string        `json:"keys"`
	States  []desktop.State `json:"states"`
	Places  []int           `json:"places"` // four for each element
	Actions []string        `json:"actions"`
	Bounds  []float64       `json:"bounds"` // two for each element

	frames map[int]*content // by row
}

// isComplete reports whether all columns have the same number of rows.
func (c *content) isComplete() bool {
	n := len(c.IDs)
	for _, m := range []int{len(c.Parents), len(c.Roles), len(c.Names), len(c.Values), len(c.About), len(c.Keys), len(c.States), len(c.Places) / 4, len(c.Actions), len(c.Bounds) / 2} {
		if m != n {
			return false
		}
	}
	return true
}

// A key locates an element: its tab, the token of its document, and its number there.
type key struct {
	target, token string
	number        int
}

const keyPrefix = "devtools:"

func (k key) id() desktop.ID {
	return desktop.ID(keyPrefix + k.target + ":" + k.token + ":" + strconv.Itoa(k.number))
}

// parseKey returns the key of an ID of this package.
func parseKey(id desktop.ID) (k key, ok bool) {
	parts := strings.Split(strings.TrimPrefix(string(id), keyPrefix), ":")
	if !strings.HasPrefix(string(id), keyPrefix) || len(parts) != 3 {
		return key{}, false
	}
	n, err := strconv.Atoi(parts[2])
	return key{parts[0], parts[1], n}, err == nil
}

// element returns the element of a row without its parent. from is the place of the document on the screen.
func (c *content) element(target string, row int, from desktop.Point) desktop.Element {
	e := desktop.Element{
		ID: key{target, c.Token, c.IDs[row]}.id(), Role: c.Roles[row], Name: c.Names[row], Value: c.Values[row], Description: c.About[row], Identifier: c.Keys[row],
		States: c.States[row], Min: c.Bounds[2*row], Max: c.Bounds[2*row+1], DevTools: true,
	}
	switch {
	case e.Role == desktop.Heading: // its bounds are its level
		e.Level, e.Min, e.Max = int(e.Max), 0, 0
	case row == 0:
		e.Language = cmp.Or(c.Lang, desktop.NoLanguage)
	}
	if action := c.Actions[row]; action != "" {
		e.Actions = []string{action}
	}
	if e.States.Has(desktop.Showing) {
		at := c.Places[4*row : 4*row+4]
		e.Frame = desktop.Rect{X: from.X + at[0], Y: from.Y + at[1], W: at[2], H: at[3]}
	}
	return e
}

// appendTo appends the document and its frames to the elements, below parent.
func (c *content) appendTo(elements []desktop.Element, target string, parent int, from desktop.Point, clip desktop.Rect) []desktop.Element {
	first, at := len(elements), make([]int, len(c.IDs))
	for row := range c.IDs {
		e := c.element(target, row, from)
		if e.States.Has(desktop.Showing) && e.Frame.Intersect(clip).Empty() { // the frame of the document is scrolled away
			e.States, e.Frame = e.States&^desktop.Showing|desktop.Offscreen, desktop.Rect{}
		}
		e.Parent = parent
		if p := c.Parents[row]; p >= 0 {
			e.Parent = at[p]
		}
		at[row] = len(elements)
		elements = append(elements, e)
		for _, f := range c.Frames {
			if inner := c.frames[row]; inner != nil && f.At == row {
				place := desktop.Point{X: from.X + f.X, Y: from.Y + f.Y}
				inside := clip.Intersect(desktop.Rect{X: place.X, Y: place.Y, W: inner.Width, H: inner.Height})
				elements = inner.appendTo(elements, target, at[row], place, inside)
			}
		}
	}
	number(elements[first:], first)
	return elements
}

// number sets the positions of elements in their sets. The index of the first element is first.
func number(elements []desktop.Element, first int) {
	type set struct {
		parent int
		role   desktop.Role
	}
	sizes := map[set]int{}
	for pass := range 2 {
		counts := map[set]int{}
		for i := range elements {
			e := &elements[i]
			if !e.Role.IsSetMember() || e.Parent < first {
				continue
			}
			own := set{e.Parent, e.Role}
			if own.role == desktop.ColumnHeader || own.role == desktop.RowHeader {
				own.role = desktop.Cell
			}
			counts[own]++
			if pass == 1 {
				e.Pos, e.Size = counts[own], sizes[own]
			}
		}
		sizes = counts
	}
}

// errorText describes an error of page/act.js for people.
func errorText(kind string) string {
	switch kind {
	case "disabled":
		return "is disabled"
	case "readonly":
		return "is read-only"
	case "unfocused":
		return "does not take the focus of its page"
	case "unseen":
		return "has no place where it could be clicked"
	case "hidden":
		return "is in a tab that its window does not show now"
	}
	return fmt.Sprintf("cannot be operated so (%s)", kind)
}
