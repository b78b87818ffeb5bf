package uia

// The ids of the properties that a read asks for, as in UIAutomationClient.h.
const (
	propRuntimeID       = 30000
	propFrame           = 30001
	propControlType     = 30003
	propName            = 30005
	propHasFocus        = 30008
	propFocusable       = 30009
	propEnabled         = 30010
	propIdentifier      = 30011
	propClass           = 30012
	propHelp            = 30013
	propPassword        = 30019
	propOffscreen       = 30022
	propOrientation     = 30023
	propFramework       = 30024
	propRequired        = 30025
	propGridItem        = 30029 // whether the pattern is there
	propInvoke          = 30031 // whether the pattern is there
	propScrollItem      = 30035 // whether the pattern is there
	propTextPattern     = 30040 // whether the pattern is there
	propHasValue        = 30043 // whether the pattern is there
	propValue           = 30045 // never part of a request for all elements
	propValueReadOnly   = 30046
	propNumber          = 30047
	propNumberReadOnly  = 30048
	propMinimum         = 30049
	propMaximum         = 30050
	propSelectsMultiple = 30060
	propExpanded        = 30070
	propModal           = 30077
	propSelected        = 30079
	propToggled         = 30086
	propDefaultAction   = 30100
	propAriaRole        = 30101
	propAriaProperties  = 30102
	propItemContainer   = 30108 // whether the pattern is there
	propPosition        = 30152
	propSetSize         = 30153
	propLevel           = 30154
	propFullDescription = 30159
	propHeadingLevel    = 30173
	propDialog          = 30174
)

// requested returns the properties that a read asks for.
func requested() []int {
	return []int{
		propRuntimeID, propFrame, propControlType, propName, propHasFocus, propFocusable, propEnabled, propIdentifier, propClass, propHelp, propPassword,
		propOffscreen, propOrientation, propFramework, propRequired, propGridItem, propInvoke, propScrollItem, propTextPattern, propValueReadOnly,
		propNumber, propNumberReadOnly, propMinimum, propMaximum, propSelectsMultiple, propExpanded, propModal, propSelected, propToggled,
		propDefaultAction, propAriaRole, propAriaProperties, propItemContainer, propPosition, propSetSize, propLevel, propFullDescription,
		propHeadingLevel, propDialog,
	}
}

// properties are the properties that an element supports: each is a bool, int, float64, string, []int32 or []float64.
type properties map[int]any

func (p properties) has(id int) bool { return p[id] != nil }

// is reports whether a property is true.
func (p properties) is(id int) bool {
	yes, _ := p[id].(bool)
	return yes
}

func (p properties) number(id int) int {
	n, _ := p[id].(int)
	return n
}

func (p properties) float(id int) float64 {
	n, _ := p[id].(float64)
	return n
}

func (p properties) text(id int) string {
	s, _ := p[id].(string)
	return s
}
