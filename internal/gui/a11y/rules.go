package a11y

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// Rules returns all rules.
func Rules() []Rule {
	return []Rule{
		{"control-name", "4.1.2 Name, Role, Value", WCAGA, Critical, "Give it a visible text, or an accessible name that says what it does.", unnamedControl},
		{"field-label", "3.3.2 Labels or Instructions", WCAGA, Critical, "Relate a label to the field.", unlabelledField},
		{"value-as-name", "4.1.2 Name, Role, Value", WCAGA, Serious, "Relate a label to the field that says what it is for.", valueAsName},
		{"label-relation", "1.3.1 Info and Relationships", WCAGA, Serious, "Relate the label beside the field to it, so that a screen reader says it.", unrelatedLabel},
		{"image-alternative", "1.1.1 Non-text Content", WCAGA, Serious, "Give the picture a text alternative, or mark it as decoration.", imageWithoutText},
		{"canvas-alternative", "1.1.1 Non-text Content", WCAGA, Serious, "Give the drawing a name, or elements in it that say the same.", canvasWithoutText},
		{"window-title", "2.4.2 Page Titled", WCAGA, Serious, "Give the window or page a title that names its topic.", untitled},
		{"keyboard-focus", "2.1.1 Keyboard", WCAGA, Serious, "Let it take the keyboard focus, or offer a key for it.", withoutFocus},
		{"keyboard-trap", "2.1.2 No Keyboard Trap", WCAGA, Critical, "Let tab and shift+tab move the focus out of it.", trapped},
		{"keyboard-reach", "2.1.1 Keyboard", WCAGA, Serious, "Let tab lead to it.", unreached},
		{"focus-order", "2.4.3 Focus Order", WCAGA, Moderate, "Let the focus follow the order in which people read.", outOfOrder},
		{"clickable-role", "4.1.2 Name, Role, Value", WCAGA, Serious, "Make it a button or a link, which have a role and take the keyboard focus.", clickableWithoutRole},
		{"frame-title", "4.1.2 Name, Role, Value", WCAGA, Serious, "Give the frame a title that says what it contains.", frameWithoutTitle},
		{"slider-value", "4.1.2 Name, Role, Value", WCAGA, Serious, "Report the value, such as by aria-valuenow.", sliderWithoutValue},
		{"range-bounds", "4.1.2 Name, Role, Value", WCAGA, Moderate, "Report the least and the greatest value.", withoutBounds},
		{"table-headers", "1.3.1 Info and Relationships", WCAGA, Serious, "Mark the heads of columns or rows as such.", tableWithoutHeaders},
		{"technical-name", "2.4.6 Headings and Labels", WCAGAA, Moderate, "Name it in words for people.", technicalName},
		{"link-purpose", "2.4.4 Link Purpose (In Context)", WCAGA, Minor, "Say in the link where it leads.", vagueLink},
		{"contrast", "1.4.3 Contrast (Minimum)", WCAGAA, Serious, "Make the text darker or lighter than its background.", lowContrast(4.5, 3)},
		{"contrast-enhanced", "1.4.6 Contrast (Enhanced)", WCAGAAA, Minor, "Make the text darker or lighter than its background.", lowContrast(7, 4.5)},
		{"target-size", "2.5.8 Target Size (Minimum)", WCAGAA, Moderate, "Make it at least 24 × 24 pixels, or leave more space around it.", smallTarget},
		{"page-language", "3.1.1 Language of Page", WCAGA, Serious, "Declare the language of the page, such as by lang=\"en\".", pageWithoutLanguage},
		{"empty-heading", "2.4.6 Headings and Labels", WCAGAA, Moderate, "Write a text into the heading, or remove it.", emptyHeading},
		{"first-heading", "", WCAGAA, Moderate, "Begin with a heading of the level 1.", firstHeading},
		{"heading-level", "", WCAGAA, Moderate, "Let the levels of headings go down by one at a time.", skippedLevel},
		{"page-heading", "", WCAGAA, Moderate, "Begin the content with a heading.", pageWithoutHeading},
		{"page-main", "", WCAGAA, Moderate, "Mark the main content as such.", pageWithoutMain},
	}
}

// isControl reports whether people operate the element, by its role or its states.
func isControl(e *desktop.Element) bool {
	switch e.Role {
	case desktop.Button, desktop.Checkbox, desktop.Radio, desktop.Switch, desktop.Slider, desktop.Spinbutton, desktop.Combobox, desktop.Link,
		desktop.MenuItem, desktop.MenuCheckbox, desktop.MenuRadio, desktop.Tab:
		return true
	}
	return false
}

func isField(e *desktop.Element) bool {
	switch e.Role {
	case desktop.Textbox, desktop.Searchbox, desktop.Spinbutton, desktop.Slider, desktop.Combobox, desktop.Listbox:
		return true
	}
	return false
}

// isPart reports whether the element belongs to a control that has a name, such as the button in a combo box.
func (a *audit) isPart(i int) bool {
	for p := a.Snapshot.Elements[i].Parent; p >= 0; p = a.Snapshot.Elements[p].Parent {
		switch e := &a.Snapshot.Elements[p]; {
		case isControl(e) || isField(e) || e.Role == desktop.Scrollbar:
			return true
		case e.Role.IsRefContainer():
			return false
		}
	}
	return false
}

// contentName returns the text inside the element.
func (a *audit) contentName(i int) string {
	var words []string
	for c := i + 1; c < a.Snapshot.Elements[i].End; c++ {
		if name := a.Snapshot.Elements[c].Name; !desktop.IsBlank(name) {
			words = append(words, name)
		}
	}
	return strings.Join(words, " ")
}

func unnamedControl(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	if !isControl(e) || isField(e) || !desktop.IsBlank(e.Name) || a.isPart(i) || e.Frame.Empty() || a.contentName(i) != "" {
		return ""
	}
	if e.Description != "" {
		return "it has a description, but no name"
	}
	return "it has no name"
}

func unlabelledField(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	if !isField(e) || !desktop.IsBlank(e.Name) || a.isPart(i) || e.Frame.Empty() || e.Role == desktop.Listbox {
		return ""
	}
	return "no label belongs to it"
}

func unrelatedLabel(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	if !isField(e) || !e.States.Has(desktop.Placed) {
		return ""
	}
	return fmt.Sprintf("the label %s is beside it, and nothing relates them", desktop.Quote(e.Name, 60))
}

func imageWithoutText(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	const icon = 8 // pixels, up to which an image is no content
	if e.Role != desktop.Image || !desktop.IsBlank(e.Name) || e.Description != "" || a.document(i) < 0 || e.Frame.W <= icon || e.Frame.H <= icon {
		return ""
	}
	if p := &a.Snapshot.Elements[e.Parent]; isControl(p) && !desktop.IsBlank(p.Name) {
		return "" // the name of the control says it
	}
	return "it has no text alternative"
}

// document returns the page that contains the element; -1 if there is none.
func (a *audit) document(i int) int {
	for p := i; p >= 0; p = a.Snapshot.Elements[p].Parent {
		if a.Snapshot.Elements[p].Role == desktop.Document {
			return p
		}
	}
	return -1
}

func (a *audit) isPage(i int) bool {
	e := &a.Snapshot.Elements[i]
	return e.Role == desktop.Document && !e.States.Has(desktop.Editable) && a.document(e.Parent) < 0
}

func untitled(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	top := e.Parent < 0 && (e.Role == desktop.Window || e.Role == desktop.Dialog)
	if !top && !a.isPage(i) || !desktop.IsBlank(e.Name) {
		return ""
	}
	return "it has no title"
}

func withoutFocus(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	switch e.Role {
	case desktop.Button, desktop.Checkbox, desktop.Radio, desktop.Switch, desktop.Slider, desktop.Spinbutton, desktop.Link, desktop.Textbox, desktop.Searchbox:
	default:
		return ""
	}
	if e.States.Has(desktop.Focusable) || !e.States.Has(desktop.Enabled) || a.isPart(i) || a.inBar(i) || a.hasFocusableInside(i) {
		return ""
	}
	return "the keyboard does not reach it"
}

// inBar reports whether the element is in a bar with items that have keys of their own, such as a title bar.
func (a *audit) inBar(i int) bool {
	for p := a.Snapshot.Elements[i].Parent; p >= 0; p = a.Snapshot.Elements[p].Parent {
		switch a.Snapshot.Elements[p].Role {
		case desktop.Toolbar, desktop.Menubar, desktop.Menu, desktop.Tablist, desktop.Radiogroup, desktop.Grid, desktop.Table, desktop.TreeView, desktop.Listbox:
			return true
		}
	}
	return false
}

func (a *audit) hasFocusableInside(i int) bool {
	for c := i + 1; c < a.Snapshot.Elements[i].End; c++ {
		if a.Snapshot.Elements[c].States.Has(desktop.Focusable) {
			return true
		}
	}
	return false
}

func withoutBounds(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	if e.Role != desktop.Slider || e.Min != e.Max {
		return ""
	}
	return "its least and greatest values are not known"
}

func tableWithoutHeaders(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	if e.Role != desktop.Table && e.Role != desktop.Grid || a.document(i) < 0 {
		return ""
	}
	rows, cells := 0, 0
	for c := i + 1; c < e.End; c++ {
		switch a.Snapshot.Elements[c].Role {
		case desktop.ColumnHeader, desktop.RowHeader:
			return ""
		case desktop.Row:
			rows++
		case desktop.Cell:
			cells++
		}
	}
	if rows < 2 || cells < 2*rows {
		return ""
	}
	return fmt.Sprintf("its %d rows have no head", rows)
}

// technicalPattern matches names for programmers: names of files and of icons, identifiers and those of GTK's stock.
var technicalPattern = regexp.MustCompile(`^(gtk-[a-z-]+|[\w-]+\.(png|svg|jpe?g|gif|webp|ico)|[a-z]+(-[a-z]+)+-symbolic|(btn|button|input|field|textbox|label|img|image|icon|checkbox|edit|widget|pushButton|lineEdit|toolButton)_?\d+|[a-z]{2,}([A-Z][a-z]+)+\d*|[a-z]+(_[a-z0-9]+)+)$`)

func technicalName(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	if !isControl(e) && !isField(e) && e.Role != desktop.Image || !technicalPattern.MatchString(strings.TrimSpace(e.Name)) {
		return ""
	}
	return fmt.Sprintf("%s is no name for people", desktop.Quote(e.Name, 60))
}

func vagueLink(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	name := e.Name
	if e.Role == desktop.Link && desktop.IsBlank(name) && e.Parent >= 0 && a.Snapshot.Elements[e.Parent].Role == desktop.Label {
		name = a.Snapshot.Elements[e.Parent].Name // GTK does not name the links of a label
	}
	isVague := e.Role == desktop.Link && lexicon.IsVagueLink(name) || e.Role == desktop.Button && lexicon.IsClickHere(name)
	if !isVague || e.Description != "" {
		return ""
	}
	return fmt.Sprintf("%s does not say where it leads", desktop.Quote(name, 40))
}

func pageWithoutHeading(a *audit, i int) string {
	return a.pageWithout(i, desktop.Heading, "it has no heading")
}

func pageWithoutMain(a *audit, i int) string {
	return a.pageWithout(i, desktop.Main, "nothing marks its main content")
}

// languagePattern matches tags of languages, such as en and zh-Hant-TW.
var languagePattern = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$|^[ix](-[A-Za-z0-9]{1,8})+$`)

func pageWithoutLanguage(a *audit, i int) string {
	switch e := &a.Snapshot.Elements[i]; {
	case e.Language == "" || !a.isPage(i):
		return ""
	case e.Language == desktop.NoLanguage:
		return "it declares no language"
	case !languagePattern.MatchString(e.Language):
		return desktop.Quote(e.Language, 40) + " is no language"
	}
	return ""
}

// skippedLevel finds headings that are more than one level below the heading before them in their page.
func skippedLevel(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	page := a.document(i)
	if e.Role != desktop.Heading || e.Level == 0 || page < 0 {
		return ""
	}
	for p := i - 1; p > page; p-- {
		if b := &a.Snapshot.Elements[p]; b.Role == desktop.Heading && b.Level > 0 && a.document(p) == page {
			if e.Level > b.Level+1 {
				return fmt.Sprintf("it has the level %d after one of the level %d", e.Level, b.Level)
			}
			return ""
		}
	}
	return ""
}

// pageWithout returns the problem of a page without an element of the role.
func (a *audit) pageWithout(i int, role desktop.Role, problem string) string {
	if !a.isPage(i) {
		return ""
	}
	for c := i + 1; c < a.Snapshot.Elements[i].End; c++ {
		if a.Snapshot.Elements[c].Role == role {
			return ""
		}
	}
	return problem
}

// minTarget is the least width and height of a target, in pixels.
const minTarget = 24

func smallTarget(a *audit, i int) string {
	e := &a.Snapshot.Elements[i]
	f := e.Frame
	if !isControl(e) || e.Role.IsMenuItem() || f.Empty() || f.W >= minTarget && f.H >= minTarget || !e.States.Has(desktop.Enabled) || a.isPart(i) || a.isInline(i) {
		return ""
	}
	// A small target is enough if a circle of the least size around its middle touches no other target.
	middle := f.Center()
	for _, t := range a.targets {
		o := &a.Snapshot.Elements[t]
		if t == i || t > i && t < e.End || i > t && i < o.End {
			continue
		}
		dx := max(o.Frame.X-middle.X, 0, middle.X-(o.Frame.X+o.Frame.W))
		dy := max(o.Frame.Y-middle.Y, 0, middle.Y-(o.Frame.Y+o.Frame.H))
		if dx*dx+dy*dy < minTarget*minTarget/4 {
			return fmt.Sprintf("it has %d × %d pixels, and %s is near", f.W, f.H, desktop.Describe(o))
		}
	}
	return ""
}

// isInline reports whether the element is a link within a text.
func (a *audit) isInline(i int) bool {
	e := &a.Snapshot.Elements[i]
	if e.Role != desktop.Link || e.Parent < 0 {
		return false
	}
	p := &a.Snapshot.Elements[e.Parent]
	return p.Role == desktop.Paragraph || len(p.Name)+len(p.Value) > len(e.Name) || a.hasTextBeside(i)
}

func (a *audit) hasTextBeside(i int) bool {
	for _, s := range a.Snapshot.Children(a.Snapshot.Elements[i].Parent) {
		if e := &a.Snapshot.Elements[s]; e.Role == desktop.Text && !desktop.IsBlank(e.Name) {
			return true
		}
	}
	return false
}
