package query

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// roleNames lists all roles.
const roleNames = "window dialog alertdialog alert status tooltip button checkbox radio switch textbox searchbox spinbutton slider " +
	"scrollbar progressbar meter combobox link menubar menu menuitem menuitemcheckbox menuitemradio tablist tab tabpanel list " +
	"listitem listbox option tree treeitem table grid row cell columnheader rowheader text label heading paragraph image document " +
	"article blockquote code figure form region navigation main banner contentinfo search group radiogroup toolbar separator " +
	"canvas terminal generic"

// otherRoleNames lists the role names of macOS (without AX), GTK, Qt and HTML: the word, our roles, and
// after a plus sign the required state. Words that are also our roles appear only in their macOS form, such
// as axcheckbox.
const otherRoleNames = `
axbutton=button axcheckbox=checkbox,switch axradiobutton=radio radiobutton=radio axtextfield=textbox,searchbox
textfield=textbox,searchbox axsearchfield=searchbox searchfield=searchbox axsecuretextfield=textbox+password
securetextfield=textbox+password axtextarea=textbox+multiline textarea=textbox+multiline axpopupbutton=combobox
popupbutton=combobox axmenubutton=button+haspopup menubutton=button+haspopup axcombobox=combobox
axmenuitem=menuitem,menuitemcheckbox,menuitemradio axmenubar=menubar axmenu=menu axstatictext=text,label,paragraph
statictext=text,label,paragraph axwindow=window,dialog,alertdialog axsheet=dialog,alertdialog sheet=dialog,alertdialog
axdialog=dialog,alertdialog axgroup=group,generic,region,form axscrollarea=group,generic,region scrollarea=group,generic,region
axtable=table,grid axrow=row,treeitem,listitem axcell=cell,columnheader,rowheader axoutline=tree outline=tree
axlist=list,listbox axbrowser=tree axcolumn=columnheader aximage=image img=image axlink=link axslider=slider
axincrementor=spinbutton incrementor=spinbutton axstepper=spinbutton stepper=spinbutton axtabgroup=tablist tabgroup=tablist
axtabbutton=tab tabbutton=tab axtoolbar=toolbar axsplitgroup=group,generic splitgroup=group,generic axsplitter=separator
splitter=separator axprogressindicator=progressbar progressindicator=progressbar axlevelindicator=meter levelindicator=meter
axheading=heading axwebarea=document webarea=document axscrollbar=scrollbar axradiogroup=radiogroup axtextbox=textbox
pushbutton=button togglebutton=button+checkable password=textbox+password entry=textbox pagetab=tab dropdown=combobox
treeview=tree tableview=table listview=list,listbox hyperlink=link`

// A roleTest tests for a role of a query.
type roleTest struct {
	word  string // as in the tables
	roles []desktop.Role
	state desktop.State
}

func (t *roleTest) matches(e *desktop.Element) bool {
	return slices.Contains(t.roles, e.Role) && e.States.Has(t.state)
}

// plainWord normalizes the spelling of a role: Menu-Item becomes menuitem.
func plainWord(word string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(word))
}

// lookUpRole finds a role by a word of the tables, ignoring case.
func lookUpRole(word string) (*roleTest, bool) {
	word = plainWord(word)
	if slices.Contains(strings.Fields(roleNames), word) {
		return &roleTest{word: word, roles: []desktop.Role{desktop.Role(word)}}, true
	}
	for _, line := range strings.Fields(otherRoleNames) {
		name, meaning, _ := strings.Cut(line, "=")
		if name != word {
			continue
		}
		names, state, _ := strings.Cut(meaning, "+")
		t := &roleTest{word: word, state: desktop.ParseState(state)}
		for name := range strings.SplitSeq(names, ",") {
			t.roles = append(t.roles, desktop.Role(name))
		}
		return t, true
	}
	return nil, false
}

// nearRoles returns the role names most similar to the word.
func nearRoles(word string) []string {
	names := strings.Fields(roleNames)
	for _, line := range strings.Fields(otherRoleNames) {
		if name, _, _ := strings.Cut(line, "="); !strings.HasPrefix(name, "ax") {
			names = append(names, name)
		}
	}
	return aai.Nearest(plainWord(word), names, 5)
}
