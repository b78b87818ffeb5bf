package ax

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// roles lists the roles of macOS and ours. A subrole comes before its role. Roles that it lacks are Generic.
const roles = " AXApplication window AXWindow window AXSheet dialog AXDrawer region AXPopover group AXHelpTag tooltip" +
	" AXButton button AXMenuButton button AXColorWell button AXDisclosureTriangle button AXDockItem button AXCheckBox checkbox" +
	" AXRadioButton radio AXPopUpButton combobox AXComboBox combobox AXTextField textbox AXSecureTextField textbox AXTextArea textbox" +
	" AXDateTimeArea textbox AXSlider slider AXIncrementor spinbutton AXScrollBar scrollbar AXProgressIndicator progressbar" +
	" AXBusyIndicator progressbar AXLevelIndicator meter AXRelevanceIndicator meter AXLink link AXStaticText text AXHeading heading" +
	" AXImage image AXMenuBar menubar AXMenuBarItem menu AXMenu menu AXMenuItem menuitem AXTabGroup tablist AXToolbar toolbar" +
	" AXRadioGroup radiogroup AXSplitter separator AXWebArea document AXList list AXTable table AXOutline tree AXBrowser list" +
	" AXGrid grid AXRow row AXCell cell AXGroup group "

// subroles lists the subroles that are more exact than their roles.
const subroles = " AXDialog dialog AXSystemDialog dialog AXSwitch switch AXToggle button AXTabButton tab AXSearchField searchbox" +
	" AXOutlineRow treeitem AXSortButton columnheader AXSeparatorMenuItem separator AXContentList list AXDefinitionList list" +
	" AXLandmarkMain main AXLandmarkNavigation navigation AXLandmarkBanner banner AXLandmarkContentInfo contentinfo" +
	" AXLandmarkSearch search AXLandmarkRegion region AXLandmarkComplementary region AXLandmarkForm form AXDocumentArticle article" +
	" AXApplicationDialog dialog AXApplicationAlertDialog alertdialog AXApplicationAlert alert AXApplicationStatus status" +
	" AXUserInterfaceTooltip tooltip AXTabPanel tabpanel AXCodeStyleGroup code AXBlockquoteStyleGroup blockquote" +
	" AXDocumentRegion region AXRatingIndicator meter "

// lookUp returns the word after the key in a list of pairs.
func lookUp(pairs, key string) string {
	if !strings.HasPrefix(key, "AX") || strings.ContainsRune(key, ' ') {
		return ""
	}
	_, rest, found := strings.Cut(pairs, " "+key+" ")
	if !found {
		return ""
	}
	word, _, _ := strings.Cut(rest, " ")
	return word
}

// roleOf returns our role for a role and subrole of macOS.
func roleOf(role, subrole string) desktop.Role {
	if word := lookUp(subroles, subrole); word != "" {
		return desktop.Role(word)
	}
	if word := lookUp(roles, role); word != "" {
		return desktop.Role(word)
	}
	return desktop.Generic
}

// hasNumber reports whether the value of elements of the role is a number with bounds.
func hasNumber(r desktop.Role) bool {
	return is(r, desktop.Slider, desktop.Spinbutton, desktop.Scrollbar, desktop.Progressbar, desktop.Meter)
}

// isField reports whether people type into elements of the role.
func isField(r desktop.Role) bool { return is(r, desktop.Textbox, desktop.Searchbox) }

// isCheckable reports whether the value of elements of the role is 0, 1 or 2 for mixed.
func isCheckable(r desktop.Role) bool {
	return is(r, desktop.Checkbox, desktop.Radio, desktop.Switch)
}

// isNamedByContent reports whether an element of the role without a name has that of the texts in it.
func isNamedByContent(r desktop.Role) bool {
	return is(r, desktop.Row, desktop.Cell, desktop.TreeItem, desktop.ListItem, desktop.Link, desktop.Button, desktop.Heading)
}

// hasActions reports whether the actions of elements of the role are worth a request.
func hasActions(r desktop.Role) bool {
	return !is(r, desktop.Window, desktop.Dialog, desktop.Menubar, desktop.Scrollbar, desktop.Separator, desktop.Progressbar, desktop.Meter)
}

func is(r desktop.Role, some ...desktop.Role) bool {
	for _, one := range some {
		if r == one {
			return true
		}
	}
	return false
}

// actionNames lists the actions of macOS and their names here, the default ones first. Others are left out or called by their own names.
const actionNames = " AXPress press AXPick pick AXConfirm confirm AXShowMenu show_menu AXIncrement increment AXDecrement decrement AXCancel cancel AXDelete delete "

// actionName returns our name for an action; "" for one that agents have another verb for. The name of an app's own action is a text of
// several lines such as "Name:Archive".
func actionName(action string) string {
	if name := lookUp(actionNames, action); name != "" {
		return name
	}
	if own, is := strings.CutPrefix(action, "Name:"); is {
		own, _, _ = strings.Cut(own, "\n")
		return own
	}
	return ""
}

// orderActions returns our names for actions of macOS, each once, in the order of actionNames; an app's own actions follow.
func orderActions(actions []string) []string {
	var known, own []string
	for _, action := range actions {
		switch name := actionName(action); {
		case name == "" || slices.Contains(known, name) || slices.Contains(own, name):
		case lookUp(actionNames, action) != "":
			known = append(known, name)
		default:
			own = append(own, name)
		}
	}
	slices.SortFunc(known, func(a, b string) int {
		return strings.Index(actionNames, " "+a+" ") - strings.Index(actionNames, " "+b+" ")
	})
	return append(known, own...)
}
