package msaa

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/query"
)

func TestElements(t *testing.T) {
	for _, c := range []struct {
		f            facts
		role         desktop.Role
		states, acts string
	}{
		{facts{role: 43, action: true, state: stateFocusable}, desktop.Button, "showing enabled focusable", "press"},
		{facts{role: 43, state: stateUnavailable}, desktop.Button, "showing", ""},
		{facts{role: 43, state: statePressed}, desktop.Button, "showing enabled checkable checked pressed", ""},
		{facts{role: 43, state: stateInvisible | stateOffscreen}, desktop.Button, "enabled", ""},
		{facts{role: roleListItem, state: stateSelectable | stateOffscreen, action: true}, desktop.Option, "enabled selectable offscreen", "select press"},
		{facts{role: roleListItem}, desktop.ListItem, "showing enabled", ""},
		{facts{role: roleCheckbox, state: stateMixed, action: true}, desktop.Checkbox, "showing enabled checkable mixed", "press"},
		{facts{role: roleRadio, state: stateChecked | stateSelectable}, desktop.Radio, "showing enabled checkable checked", ""},
		{facts{role: roleText, action: true}, desktop.Textbox, "showing enabled editable", ""},
		{facts{role: roleText, state: stateReadOnly}, desktop.Text, "showing enabled", ""},
		{facts{role: roleText, state: stateReadOnly | stateFocusable}, desktop.Textbox, "showing enabled focusable readonly", ""},
		{facts{role: roleStatic, state: stateProtected}, desktop.Textbox, "showing enabled editable password", ""},
		{facts{role: roleMenuItem, state: statePopup, action: true}, desktop.Menu, "showing enabled haspopup", "press"},
		{facts{role: roleTab, state: stateSelectable | stateSelected, action: true}, desktop.Tab, "showing enabled selectable selected", "press"},
		{facts{role: 7}, desktop.Generic, "showing enabled", ""},
	} {
		e := c.f.element(0)
		assert.Equal(t, e.Role, c.role, "%+v", c.f)
		assert.Equal(t, strings.Join(e.States.Words(), " "), c.states, "%+v", c.f)
		assert.Equal(t, strings.Join(e.Actions, " "), c.acts, "%+v", c.f)
	}
	for _, role := range roles() {
		_, err := query.Parse(string(role), query.ByRole)
		assert.NilError(t, err)
	}
}

func TestValues(t *testing.T) {
	secret := facts{role: roleText, state: stateProtected, value: "secret"}
	assert.Equal(t, secret.element(0).Value, "")
	item := facts{role: roleTreeItem, value: "2"}
	assert.Equal(t, item.element(0).Value, "")
	long := facts{role: roleText, value: strings.Repeat("é", 400)}
	assert.Equal(t, long.element(desktop.MaxValue).Value, strings.Repeat("é", 250))
	hidden := facts{role: roleText, state: stateInvisible, frame: desktop.Rect{W: 1, H: 1}}
	assert.Equal(t, hidden.element(0).Frame, desktop.Rect{})
}

func TestIDs(t *testing.T) {
	save := facts{role: 43, name: "Save"}
	a := address{window: 0x2003e, path: []int{0, 3}, digest: digestOf(&save)}
	again, ok := parse(a.id())
	assert.Assert(t, ok)
	assert.DeepEqual(t, again.path, a.path)
	assert.Equal(t, again.digest, a.digest)
	root, ok := parse((&address{window: 1}).id())
	assert.Assert(t, ok)
	assert.Equal(t, len(root.path), 0)
	other := facts{role: 43, name: "Delete"}
	assert.Assert(t, digestOf(&other) != a.digest)
	clock, later := facts{role: roleStatic, name: "12:01"}, facts{role: roleStatic, name: "12:02"}
	assert.Equal(t, digestOf(&clock), digestOf(&later))
	for _, bad := range []desktop.ID{"", "msaa:", "msaa:1/", "msaa:1/0~", "msaa:1/x~1", "msaa:1/-1~1", "uia:1/0~1", "msaa:1/99999999999~1"} {
		_, ok := parse(bad)
		assert.Assert(t, !ok, bad)
	}
}
