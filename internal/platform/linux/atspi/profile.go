package atspi

import (
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// profile describes how an app deviates from the accessibility protocol, or from other apps. newProfile sets it once,
// by the app's toolkit and its version; a field names the deviation. The zero value is an app without deviations.
type profile struct {
	desktop.Profile

	// Listing and events.

	// listsObjects reports whether the app answers GetApplicationBusAddress (atk-bridge). Such an app lists all of
	// its objects at once, and sends events for all changes. It is probed.
	listsObjects bool
	// isOffice reports whether the app is LibreOffice: it keeps deleted objects in the list and crashes, repeats
	// GTK's menu bars, and has sheets with cells of its own kind.
	isOffice         bool
	trust            treecache.Trust // how far the app's events can be trusted; they are checked by [program.check]
	omitsWaiting     bool            // waiting windows are not listed
	needsFlag        bool            // the tree is empty unless a flag was given at the start
	listsEmpty       bool            // nodes with children are listed as empty
	leaksHeaders     bool            // each query for the children of a view creates and leaks objects
	gathersOnQuery   bool            // properties of a page are collected after the first query, see gathers
	reusesUnknown    bool            // the error for an unknown object also means an unknown method
	plainInterfaces  offers          // interfaces that all plain nodes of a listing app have; 0 if unknown
	identifiesLeaves bool            // nameless leaves may have identifiers
	lacksIDs         bool            // there is no AccessibleId
	hasPromptPanels  bool            // panels of an alert or a dialog may be parts of a prompt

	// Frames and visibility.

	windowRelative       bool // frames are relative to the window: the app does not know its position on the screen
	textsFillParents     bool // the only text of a page's element has the frame of the element
	clipsDescendants     bool // widgets never extend beyond their parents, and those that were scrolled away have SHOWING
	hidesScrolledRows    bool // rows that were scrolled away lack VISIBLE
	lacksShowing         bool // elements may never have SHOWING inside a window
	keepsLeftPages       bool // pages of a notebook that are not open look visible
	hidesScrolledContent bool // widgets that were scrolled away lack SHOWING

	// comparesSizes reports whether windows are matched by their sizes too, since no frame says where it is.
	comparesSizes bool
	// scalesPages reports whether the frames in pages are in the pixels of the monitor, and the others in logical ones.
	scalesPages bool
	// drawsShadow reports whether the frame of a window contains the shadow that the app draws; a container in it is as
	// large as the window without the shadow.
	drawsShadow bool
	// decoration is what the toolkit draws around a window itself: the place of the content, and the difference of the
	// sizes.
	decoration desktop.Rect

	// Names and texts.

	namesClasses     bool // nameless widgets have the name of their class, and some names are doubled
	wordsInContainer bool // words are not objects, but part of the text of their container
	writtenByParts   bool // the descendants of a text may contain all of it
	clampsRanges     bool // a range of text is shortened to the text's length
	countsUTF16      bool // lengths of texts are in UTF-16 units, otherwise in bytes
	boxNameIsValue   bool // the name of a combo box without a selection is its value
	tellsDirection   bool // the attributes of a text contain its direction
	fixElement       func(n, window *node, e *desktop.Element)

	// Numbers.

	roundsNumbers   bool // numbers have 32 bits
	writesNumbers   bool // the text of an editable number holds its written form
	writesAll       bool // the text of each number holds its written form, and is right
	dateTimeNumbers bool // a field for a date or a time is a number without bounds that is always 0

	// Actions.

	plainActions       bool          // the list of actions has their original names
	firstActionPresses bool          // the first action of the list is the press, see takeAction
	pressesFocusable   bool          // only focusable nodes can be pressed
	labelsForward      bool          // a click on a label or a frame is one on its element
	entryPressReturns  bool          // the only action of an entry activates it, and its icons expect a pointer
	pressesOtherRows   bool          // a press on the item of a tree or a calendar affects another one
	pressBlocks        bool          // a press that opens a dialog answers when the dialog is closed
	pressDelay         time.Duration // the app sleeps to animate a press before it acts
	omitsSensitive     bool          // read-only fields lack SENSITIVE
	addsSelected       bool          // multi-selection lists lack MULTISELECTABLE, and SelectChild adds to the selection
	rowsOfTables       bool          // only table rows can be selected, while tables lack MULTISELECTABLE
	ignoresText        bool          // SetTextContents answers yes and sets nothing
	tellsLanguage      bool          // a page reports the language that it declares
	omitsPageEvents    bool          // the page gets no events for numbers and selections that are set
}

// pressMargin is a margin for the delays in pressDelay.
const pressMargin = 20 * time.Millisecond

// newProfile returns the profile of an app by the names of its toolkit and of itself. listsObjects is probed.
func newProfile(toolkit, version, name string, listsObjects bool) profile {
	number, _, _ := strings.Cut(version, ".")
	major, _ := strconv.Atoi(number)
	p := profile{listsObjects: listsObjects, isOffice: name == "soffice", trust: treecache.Untrusted}
	if listsObjects {
		p.trust, p.plainInterfaces = treecache.TrustEvents, offersComponent // common to all objects of ATK's bridge
	}
	p.pressesFocusable = p.isOffice
	switch {
	case toolkit == "Chromium":
		p.setChromium()
	case toolkit == "Gecko":
		p.setGecko()
	case toolkit == "Qt":
		p.setQt()
	case strings.EqualFold(toolkit, "gtk"):
		p.setGTK(major)
	}
	return p
}

func (p *profile) setChromium() {
	p.IsBrowser, p.PromptsTakeText = true, true
	if p.listsObjects { // it omits some changes
		p.trust, p.plainInterfaces = treecache.TrustChecked, offersComponent|offersAction
	}
	p.needsFlag, p.omitsWaiting, p.lacksIDs, p.hasPromptPanels = true, true, true, true
	p.textsFillParents, p.scalesPages, p.drawsShadow = true, true, true
	p.writtenByParts, p.clampsRanges, p.tellsDirection = true, true, true
	p.roundsNumbers, p.writesNumbers = true, true
	p.firstActionPresses, p.omitsSensitive = true, true
}

func (p *profile) setGecko() {
	p.IsBrowser, p.FocusOnlyWhenActive = true, true
	p.gathersOnQuery, p.plainInterfaces, p.identifiesLeaves = true, 0, true
	p.wordsInContainer, p.fixElement = true, (*node).inGecko
	p.writesNumbers, p.writesAll = true, true
	p.labelsForward, p.ignoresText, p.omitsPageEvents, p.tellsLanguage = true, true, true, true
}

// setQt sets the deviations of Qt. Sources: atspiadaptor.cpp cuts a QString and lists plain names of actions;
// itemviews.cpp calls rows outside of the viewport invisible; animateClick of qabstractbutton.cpp.
func (p *profile) setQt() {
	p.WorksCovered, p.HasSetFocus, p.LosesLateKeys, p.SkipsValidators = true, true, true, true
	p.WheelFocuses, p.TabsThroughCells, p.SelectsWithoutCurrent = true, true, true
	p.decoration = desktop.Rect{X: 3, Y: 30, W: 6, H: 33} // of qtwayland's own plugin, "bradient"
	p.leaksHeaders, p.reusesUnknown, p.fixElement = true, true, (*node).inQt
	p.clipsDescendants, p.hidesScrolledRows = true, true
	p.countsUTF16, p.boxNameIsValue, p.dateTimeNumbers = true, true, true
	p.plainActions, p.pressesFocusable, p.pressesOtherRows, p.pressBlocks = true, true, true, true
	p.pressDelay = 100*time.Millisecond + pressMargin
}

// setGTK sets the deviations of GTK. Sources: gtktreeviewaccessible.c; ACTIVATE_TIMEOUT of GTK 4's gtkbutton.c.
func (p *profile) setGTK(major int) {
	p.WorksCovered, p.RaisesOnFocus, p.ReportsFocusEarly = true, true, true
	p.entryPressReturns = true
	if major < 4 {
		p.rowsOfTables, p.hidesScrolledContent, p.tellsDirection = !p.isOffice, true, !p.isOffice
		p.KeepsCursor = !p.isOffice
		return
	}
	p.listsEmpty, p.windowRelative, p.lacksShowing, p.namesClasses = true, true, true, true
	p.keepsLeftPages, p.MisplacesPopups = true, true
	p.pressesFocusable, p.addsSelected = true, true
	p.pressDelay = 250*time.Millisecond + pressMargin
}
