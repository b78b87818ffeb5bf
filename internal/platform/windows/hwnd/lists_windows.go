package hwnd

import (
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// The messages of list boxes.
const (
	lbGetSel, lbGetCurSel, lbGetText, lbGetTextLen = 0x0187, 0x0188, 0x0189, 0x018A
	lbGetCount, lbGetTopIndex, lbGetItemRect       = 0x018B, 0x018E, 0x0198
	lbSetSel, lbSetCurSel, lbSetTopIndex           = 0x0185, 0x0186, 0x0197
)

// The styles of lists with items that the program draws, and with texts that the list keeps.
const (
	listOwnerFixed, listOwnerVariable, listHasStrings    = 0x0010, 0x0020, 0x0040
	comboOwnerFixed, comboOwnerVariable, comboHasStrings = 0x0010, 0x0020, 0x0200
)

// listItems are the items of a list box.
type listItems struct{ *control }

func (l listItems) count() (int, error) { return l.send(lbGetCount, 0, 0) }
func (l listItems) first() (int, error) { return l.send(lbGetTopIndex, 0, 0) }

func (l listItems) read(index int) (desktop.Element, error) {
	e := desktop.Element{Role: desktop.Option, States: desktop.Selectable | desktop.Enabled}
	hasText := l.style&(listOwnerFixed|listOwnerVariable) == 0 || l.style&listHasStrings != 0
	var err error
	if e.Name, err = l.entry(lbGetTextLen, lbGetText, index, hasText); err != nil {
		return e, err
	}
	chosen, err := l.send(lbGetSel, uintptr(index), 0)
	if err != nil {
		return e, err
	}
	if chosen > 0 {
		e.States |= desktop.Selected
	}
	if l.IsVisible() {
		e.Frame, err = l.GetRect(l.ctx, lbGetItemRect, uintptr(index))
	}
	return e, err
}

// entry reads the text of an entry by the messages for its length and its text. It is "" if the control has none.
func (c *control) entry(getLength, getText uint32, index int, hasText bool) (string, error) {
	n, err := c.send(getLength, uintptr(index), 0)
	if err != nil || !hasText {
		return "", err
	}
	if n < 0 {
		return "", win32.Gone()
	}
	if n > 1<<16 {
		return "", nil
	}
	return c.GetText(c.ctx, getText, uintptr(index), n)
}

// options are the entries of a combo box.
type options struct{ *control }

func (o options) count() (int, error) { return o.send(cbGetCount, 0, 0) }
func (o options) first() (int, error) { return max(0, o.value(cbGetCurSel)), nil }

func (o options) read(index int) (desktop.Element, error) {
	e := desktop.Element{Role: desktop.Option, States: desktop.Selectable | desktop.Enabled}
	hasText := o.style&(comboOwnerFixed|comboOwnerVariable) == 0 || o.style&comboHasStrings != 0
	var err error
	if e.Name, err = o.entry(cbGetListTextLen, cbGetListText, index, hasText); err != nil {
		return e, err
	}
	if o.value(cbGetCurSel) == index {
		e.States |= desktop.Selected
	}
	return e, nil
}
