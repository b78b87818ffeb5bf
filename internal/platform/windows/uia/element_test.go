package uia

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/query"
)

// shown returns the properties of an enabled element of a control type, and more as pairs of id and value.
func shown(controlType int, pairs ...any) properties {
	p := properties{propControlType: controlType, propEnabled: true}
	for i := 0; i < len(pairs); i += 2 {
		p[pairs[i].(int)] = pairs[i+1]
	}
	return p
}

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		p    properties
		want desktop.Role
	}{
		{shown(50000), desktop.Button}, {shown(typeListItem), desktop.ListItem}, {shown(typeListItem, propSelected, false), desktop.Option},
		{shown(typeList), desktop.List}, {shown(typeList, propSelectsMultiple, false), desktop.Listbox},
		{shown(typeMenuItem), desktop.MenuItem}, {shown(typeMenuItem, propToggled, 0), desktop.MenuCheckbox}, {shown(typeMenuItem, propSelected, true), desktop.MenuRadio},
		{shown(typeMenuItem, propExpanded, 0), desktop.Menu}, {shown(typeMenuItem, propExpanded, leaf), desktop.MenuItem},
		{shown(typeDocument), desktop.Document}, {shown(typeDocument, propValueReadOnly, false), desktop.Textbox}, {shown(typeDocument, propValueReadOnly, true), desktop.Document},
		{shown(typeWindow), desktop.Window}, {shown(typeWindow, propModal, true), desktop.Dialog}, {shown(typeWindow, propClass, dialogClass), desktop.Dialog},
		{shown(typeDataItem), desktop.Row}, {shown(typeDataItem, propGridItem, true), desktop.Cell}, {shown(50033), desktop.Generic}, {shown(12), desktop.Generic},
		{shown(50026, propAriaRole, "navigation"), desktop.Navigation}, {shown(50026, propAriaRole, "unknown Article"), desktop.Article},
		{shown(50026, propAriaRole, "window"), desktop.Group}, {shown(50020, propHeadingLevel, headingNone+2), desktop.Heading}, {shown(50020, propHeadingLevel, headingNone), desktop.Text},
		{shown(50026, propAriaRole, "button", propPassword, true), desktop.Textbox},
	} {
		assert.Equal(t, c.p.roleOf(), c.want, "%v", c.p)
	}
	for _, word := range strings.Fields(sameAriaRoles + " gridcell treegrid img log complementary") {
		_, err := query.Parse(string(ariaRole(word)), query.ByRole)
		assert.NilError(t, err, word)
	}
	for controlType, role := range controlTypes() {
		_, err := query.Parse(string(role), query.ByRole)
		assert.NilError(t, err, "%d", controlType)
	}
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		p    properties
		want string
	}{
		{shown(50000), "showing enabled"}, {shown(50000, propOffscreen, true), "enabled"}, {shown(typeListItem, propOffscreen, true, propScrollItem, true), "enabled offscreen"},
		{shown(typeCheckbox), "showing enabled checkable"}, {shown(typeCheckbox, propToggled, 1), "showing enabled checkable checked"},
		{shown(typeCheckbox, propToggled, 2), "showing enabled checkable mixed"}, {shown(typeButton, propToggled, 1), "showing enabled checkable checked pressed"},
		{shown(typeRadio, propSelected, true), "showing enabled checkable checked"}, {shown(typeListItem, propSelected, true), "showing enabled selectable selected"},
		{shown(typeEdit, propValueReadOnly, false), "showing enabled editable"}, {shown(typeEdit, propValueReadOnly, true), "showing enabled readonly"},
		{shown(typeEdit, propPassword, true, propValueReadOnly, false), "showing enabled editable password"},
		{shown(typeDocument, propValueReadOnly, false), "showing enabled editable multiline"}, {shown(typeEdit, propAriaProperties, "required=true;multiline=true"), "showing enabled multiline required"},
		{shown(typeCombobox, propExpanded, 1), "showing enabled expandable expanded haspopup"}, {shown(50024, propExpanded, leaf), "showing enabled"},
		{shown(typeSpinner, propNumber, 1.0, propNumberReadOnly, false), "showing enabled editable"}, {shown(50015, propOrientation, 2), "showing enabled vertical"},
		{shown(typeList, propItemContainer, true, propSelectsMultiple, true), "showing enabled multiselectable virtual"},
	} {
		assert.Equal(t, strings.Join(c.p.states(c.p.roleOf()).Words(), " "), c.want, "%v", c.p)
	}
}

func TestActions(t *testing.T) {
	for _, c := range []struct {
		p    properties
		want string
	}{
		{shown(50000), ""}, {shown(50000, propInvoke, true, propDefaultAction, "Drücken"), "press"}, {shown(50000, propDefaultAction, "Drücken"), "default"},
		{shown(typeEdit, propDefaultAction, "x"), ""}, {shown(typeListItem, propInvoke, true, propSelected, false), "select press"},
		{shown(50024, propSelected, false, propExpanded, 0), "select expand"}, {shown(typeCombobox, propExpanded, 1), "collapse"},
		{shown(50024, propExpanded, 2), "expand collapse"}, {shown(typeCheckbox, propToggled, 0), "toggle"}, {shown(typeMenuItem, propInvoke, true, propSelected, false), "press select"},
	} {
		assert.Equal(t, strings.Join(c.p.actions(c.p.roleOf()), " "), c.want, "%v", c.p)
	}
}

func TestElement(t *testing.T) {
	p := shown(50015, propName, "Volume", propNumber, 30.5, propMinimum, 0.0, propMaximum, 100.0, propFrame, []float64{1.6, 2, 3, 4}, propHelp, "Volume", propIdentifier, "vol")
	e := p.element("ignored", desktop.MaxValue)
	assert.Equal(t, e.Value, "30.5")
	assert.Equal(t, e.Max, 100.0)
	assert.Equal(t, e.Frame, desktop.Rect{X: 2, Y: 2, W: 3, H: 4})
	assert.Equal(t, e.Description, "")
	assert.Equal(t, e.Identifier, "vol")

	secret := shown(typeEdit, propPassword, true, propValueReadOnly, false).element("secret", 0)
	assert.Equal(t, secret.Value, "")

	long := shown(typeEdit, propValueReadOnly, false).element(strings.Repeat("é", 400), desktop.MaxValue)
	assert.Equal(t, long.Value, strings.Repeat("é", 250))

	for _, frame := range []any{nil, []float64{1, 2}, []float64{math.Inf(1), 0, 0, 0}, []float64{math.NaN(), 0, 1, 1}} {
		assert.Equal(t, rectangle(frame), desktop.Rect{})
	}
	wrongSet := shown(typeListItem, propPosition, 5, propSetSize, 3).element("", 0)
	assert.Equal(t, wrongSet.Pos, 0)
	heading := shown(50020, propAriaRole, "heading", propAriaProperties, "level=3").element("", 0)
	assert.Equal(t, heading.Level, 3)
}

func TestIDs(t *testing.T) {
	id := makeID(0x2003e, []int32{42, -7})
	assert.Equal(t, id, desktop.ID("uia:2003e/42.-7"))
	window, runtimeID, ok := parseID(id)
	assert.Assert(t, ok)
	assert.Equal(t, window, uintptr(0x2003e))
	assert.Assert(t, slices.Equal(runtimeID, []int32{42, -7}))
	_, runtimeID, ok = parseID(id + "~1")
	assert.Assert(t, ok)
	assert.Equal(t, len(runtimeID), 0)
	for _, bad := range []desktop.ID{"", "uia:", "uia:/", "uia:x/1", "msaa:1/2", "uia:1", "uia:1/", "uia:1/2.", "uia:1/99999999999"} {
		_, _, ok := parseID(bad)
		assert.Assert(t, !ok, bad)
	}
}
