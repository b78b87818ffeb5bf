package hwnd

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
)

func TestKindOf(t *testing.T) {
	for class, want := range map[string]kind{
		"Button": button, "Edit": edit, "RICHEDIT50W": edit, "WindowsForms10.EDIT.app.0.141b42a_r6_ad1": edit, "TButton": button,
		"WindowsForms10.Window.8.app.0.141b42a_r6_ad1": unknown, "Static": static, "ComboBox": comboBox, "ListBox": listBox, "TComboBox": comboBox,
		"SysTreeView32": treeView, "WindowsForms10.SysTreeView32.app.0.1": treeView, "#32770": dialog, "Notepad": unknown, "": unknown,
	} {
		assert.Check(t, kindOf(class) == want, "%s is %d", class, kindOf(class))
	}
}

func TestPlainLabel(t *testing.T) {
	for label, want := range map[string]string{"F&ull name": "Full name", "R&&D &go": "R&D go", "": "", " a ": "a"} {
		assert.Check(t, plainLabel(label) == want, "%q becomes %q", label, plainLabel(label))
	}
	assert.Check(t, fieldName("Pass&word :") == "Password")
}

// TestAddressRoundTrip encodes and decodes addresses, and refuses other texts.
func TestAddressRoundTrip(t *testing.T) {
	window := address{window: 0x1007a, thread: 0x44}
	for _, a := range []address{window, window.at(item, "Fruit 3", 3), window.at(menuEntry, "New", 0, 2), window.at(cell, "x", 4, 1)} {
		got, ok := parse(a.id())
		assert.Check(t, ok, a.id())
		assert.DeepEqual(t, got.id(), a.id())
	}
	for _, id := range []desktop.ID{"", "/no/such/element", "uia:1", "hwnd:", "hwnd:x.1", "hwnd:1", "hwnd:1.2/", "hwnd:1.2/i3", "hwnd:1.2/q3~1", "hwnd:1.2/c3~1", "hwnd:1.2/i3.~1"} {
		_, ok := parse(id)
		assert.Check(t, !ok, "%q is an ID", id)
	}
}
