package patterns

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// A Pattern is a common kind of window.
type Pattern string

// The patterns. None means that no rule applies.
const (
	None         Pattern = ""
	Login        Pattern = "login_form"
	FileSave     Pattern = "file_save_dialog"
	FileOpen     Pattern = "file_open_dialog"
	Settings     Pattern = "settings_page"
	Confirmation Pattern = "confirmation_dialog"
	ErrorAlert   Pattern = "error_alert"
	Search       Pattern = "search_interface"
	Table        Pattern = "table_view"
	Form         Pattern = "form"
	Browser      Pattern = "browser_main"
	Editor       Pattern = "text_editor"
	Progress     Pattern = "progress_indicator"
)

// A State is the state of a program.
type State string

// The states. The tree alone does not show Busy: a busy program answers late.
const (
	Idle         State = "idle"
	Loading      State = "loading"
	Failed       State = "error"
	AuthRequired State = "auth_required"
	Busy         State = "busy"
	ModalDialog  State = "modal_dialog"
)

// A Finding is what the front part of a program shows.
type Finding struct {
	Pattern     Pattern
	State       State
	Suggestions []Suggestion
}

// A Suggestion is a next step that the pattern offers. It is information; no step is taken.
type Suggestion struct {
	Action string `json:"action"`
	Tool   string `json:"tool"`
	Query  string `json:"query,omitempty"` // of the element, as the tool's parameter query
}

// Detect recognizes the pattern and the state of the dialog or window in front.
func Detect(s *desktop.Snapshot) Finding {
	p := frontOf(s)
	f := Finding{Pattern: None, State: Idle}
	for _, r := range rules() {
		if r.applies(p) {
			f.Pattern = r.pattern
			break
		}
	}
	switch {
	case f.Pattern == ErrorAlert:
		f.State = Failed
	case f.Pattern == Login:
		f.State = AuthRequired
	case p.isLoading():
		f.State = Loading
	case p.dialog || f.Pattern == FileSave || f.Pattern == FileOpen:
		f.State = ModalDialog
	}
	f.Suggestions = p.suggest(f.Pattern)
	return f
}

// rule recognizes a pattern.
type rule struct {
	pattern Pattern
	applies func(*part) bool
}

// rules returns the rules in their order: the first that applies names the pattern.
func rules() []rule {
	return []rule{
		{Login, (*part).isLogin},
		{FileSave, func(p *part) bool { return p.isFileDialog() && p.saves() }},
		{FileOpen, (*part).isFileDialog},
		{ErrorAlert, (*part).isError},
		{Confirmation, (*part).isConfirmation},
		{Editor, (*part).isEditor},
		{Progress, (*part).isProgress},
		{Settings, (*part).isSettings},
		{Table, (*part).isTable},
		{Search, (*part).isSearch},
		{Form, (*part).isForm},
		{Browser, func(p *part) bool { return p.page >= 0 }},
	}
}

// isLogin: one field for a password, and at most one other field.
func (p *part) isLogin() bool {
	return len(p.passwords) == 1 && len(p.texts) <= 1 && len(p.multiline) == 0
}

// isFileDialog: a dialog with a list of files, a place to name or choose one, and buttons to do it or not.
func (p *part) isFileDialog() bool {
	if p.page >= 0 || p.top < 0 {
		return false
	}
	if p.chooser {
		return true
	}
	words := (lexicon.IsSaveLabel(p.title) || lexicon.IsOpenLabel(p.title)) && slices.ContainsFunc(p.buttons, func(i int) bool { return lexicon.IsCancelLabel(p.Elements[i].Name) })
	return len(p.lists) > 0 && len(p.buttons) >= 2 && len(p.texts)+len(p.combos) > 0 && words && !lexicon.IsSettingsTitle(p.title)
}

// saves reports whether a dialog for files saves one, by its title, its default button or its first field.
func (p *part) saves() bool {
	if lexicon.IsSaveLabel(p.title) != lexicon.IsOpenLabel(p.title) {
		return lexicon.IsSaveLabel(p.title)
	}
	save := slices.ContainsFunc(p.buttons, func(i int) bool { return lexicon.IsSaveLabel(p.Elements[i].Name) })
	open := slices.ContainsFunc(p.buttons, func(i int) bool { return lexicon.IsOpenLabel(p.Elements[i].Name) })
	if save != open {
		return save
	}
	return len(p.texts) > 0
}

// isError: an alert with one way out, or a page with hardly more than the message of an error.
func (p *part) isError() bool {
	if p.dialog {
		return len(p.buttons) == 1 && p.fields() == 0 && len(p.lists) == 0 && p.size < 40 && slices.ContainsFunc(append(p.messages, p.title), lexicon.IsErrorText)
	}
	if p.page < 0 {
		return false
	}
	if slices.ContainsFunc(p.alerts, lexicon.IsErrorText) {
		return true
	}
	return p.fields() == 0 && p.size < 60 && (slices.ContainsFunc(append(p.headings, p.title), lexicon.IsErrorText) || slices.ContainsFunc(p.messages, beginsWithError))
}

// beginsWithError reports whether the first word of a message is such as "Error:".
func beginsWithError(message string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(message), " ")
	return lexicon.IsErrorText(word)
}

// isConfirmation: a small dialog of two to four buttons, without fields and tables.
func (p *part) isConfirmation() bool {
	return p.dialog && len(p.buttons) >= 2 && len(p.buttons) <= 4 && p.fields() == 0 && len(p.toggles) <= 2 && len(p.lists) <= 1 && len(p.tables) == 0 && len(p.bars) == 0 && p.size < 60
}

// isEditor: a text of several lines that fills much of the part.
func (p *part) isEditor() bool {
	return slices.ContainsFunc(p.multiline, func(i int) bool { return p.share(i) >= 0.25 })
}

func (p *part) isProgress() bool {
	return len(p.bars) > 0 && p.fields() == 0 && len(p.lists) == 0 && p.size < 80
}

// isLoading: a progress bar that has not ended, or a text that says so.
func (p *part) isLoading() bool {
	return len(p.bars) > 0 || slices.ContainsFunc(p.busy, func(i int) bool { return p.share(i) >= 0.25 }) ||
		p.size < 60 && slices.ContainsFunc(append(p.messages, p.headings...), lexicon.IsLoadingText)
}

// isSettings: many switches and choices and few texts. A title that names settings needs fewer.
func (p *part) isSettings() bool {
	choices := len(p.toggles) + len(p.combos)
	named := slices.ContainsFunc(append(p.headings, p.title), lexicon.IsSettingsTitle)
	return named && choices+len(p.lists)+len(p.buttons) > 2 || choices >= 6 && len(p.texts) <= 1
}

// isTable: a table with columns that fills much of the part, or has most of its elements.
func (p *part) isTable() bool {
	return slices.ContainsFunc(p.tables, func(i int) bool { return p.share(i) >= 0.2 || 2*(p.Elements[i].End-i) > p.size })
}

// isSearch: a field for a search, or one field above a list that has most of the part.
func (p *part) isSearch() bool {
	if len(p.texts) > 1 || p.page >= 0 && len(p.searches) == 0 {
		return false
	}
	return len(p.searches) > 0 || len(p.texts) == 1 && len(p.buttons) <= 3 && slices.ContainsFunc(p.lists, func(i int) bool {
		return p.share(i) >= 0.4 && p.Elements[p.texts[0]].Frame.Y < p.Elements[i].Frame.Y
	})
}

// isForm: several fields, or a dialog that asks for one.
func (p *part) isForm() bool {
	return p.fields() >= 2 || p.dialog && p.fields() == 1 && len(p.buttons) >= 2
}

// fields returns the number of fields to fill in.
func (p *part) fields() int {
	return len(p.texts) + len(p.passwords) + len(p.combos) + len(p.multiline)
}
