package wintree

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestCompare compares a window with one that has changed in every way.
func TestCompare(t *testing.T) {
	before := &desktop.Snapshot{Elements: []desktop.Element{
		{ID: "w", Parent: -1, States: desktop.Active}, {ID: "box", Role: desktop.Textbox, Value: "a"}, {ID: "check"}, {ID: "gone"},
		{ID: "dialog", Parent: -1}, {ID: "label", Name: "Pressed 0 times"},
	}}
	after := &desktop.Snapshot{Elements: []desktop.Element{
		{ID: "w", Parent: -1}, {ID: "box", Role: desktop.Textbox, Value: "b"}, {ID: "check", States: desktop.Checked}, {ID: "new"},
		{ID: "popup", Parent: -1}, {ID: "label", Name: "Pressed 1 times", Parent: 4},
	}}
	at := time.Unix(7, 0)
	assert.DeepEqual(t, compare(before, after, at), []desktop.Event{
		{Kind: desktop.WindowChanged, ID: "w", Detail: "deactivated", At: at}, {Kind: desktop.TextChanged, ID: "box", At: at},
		{Kind: desktop.StateChanged, ID: "check", Detail: "checked", At: at}, {Kind: desktop.ChildrenChanged, ID: "w", At: at},
		{Kind: desktop.WindowChanged, ID: "popup", Detail: "opened", At: at}, {Kind: desktop.NameChanged, ID: "label", At: at},
		{Kind: desktop.ChildrenChanged, ID: "w", At: at}, {Kind: desktop.WindowChanged, ID: "dialog", Detail: "closed", At: at},
	})
	assert.Check(t, compare(before, before, at) == nil)
}
