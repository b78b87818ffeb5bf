package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

//go:embed templates/*.html
var templateFiles embed.FS

// The templates and words that are no page's own.
const (
	layoutName = "layout"
	enterName  = "enter"
	errorName  = "error"
)

// A view is what a template gets.
type pageView struct {
	Title  string
	Named  string // what the page is about, in the words of whoever named it; "" where the title says all
	Lang   string
	Page   string    // the name of the page
	Nav    []navItem // nil before somebody has entered
	Here   string    // the address of this page
	Csrf   template.HTML
	Notice string // what came of the last act
	Style  string // the address of the style sheet
	Icon   string
	Script string // of what keeps a page up to date; "" before somebody has entered
	Again  string // the address by which it is loaded again
	Finds  string // the form whose fields go with that; "": none
	Live   string // the events at which the page is loaded again, as htmx reads them
	Read   uint64 // how many news there had been before the page was read
	Data   any
	Done   any  // what an act has to show
	Halted bool // everything is stopped, and the page itself does not say so
	Fault  *aai.Error
}

// A subject is what a page gets as .Data where it is about one thing, which the title names.
type titled interface{ Subject() string }

// Head is the document's title: what the page is about comes first, as tabs show little.
func (v pageView) Head() string {
	title := v.Title + " · AAI Gateway"
	if v.Named != "" {
		title = sanitize.EscapeInvisible(aai.CleanLabel(v.Named, maxHead)) + " · " + title
	}
	return title
}

// maxHead is how much of a name stands in the title, in bytes.
const maxHead = 120

// A navItem is a page in the navigation.
type navItem struct {
	Path, Name string
	Here       bool
}

// maxForeignText is how much of a stranger's text a page shows, in bytes.
const maxForeignText = 64 << 10

// readTemplates parses the template of each page, in each language.
func readTemplates(names []string, w pageTexts, f map[string]sentenceTranslations) (map[string]*template.Template, error) {
	all := make(map[string]*template.Template)
	for _, lang := range languages() {
		for _, name := range names {
			t, err := template.New(name).Funcs(template.FuncMap{
				"t":        func(key string, args ...any) string { return w.format(lang, name, key, args...) },
				"when":     formatTime,
				"stranger": foreignText,
				"named":    func(text string) string { return sanitize.EscapeInvisible(aai.CleanText(text, maxForeignText)) }, // in an attribute
				"finding":  f[lang].translate,
				"patience": func() int { return int(aai.AskTimeout.Seconds()) },
			}).ParseFS(templateFiles, "templates/layout.html", "templates/stop.html", "templates/calls.html", "templates/"+name+".html")
			if err != nil {
				return nil, fmt.Errorf("the page %s: %w", name, err)
			}
			all[lang+" "+name] = t
		}
	}
	return all, nil
}

// formatTime shows a time as people here write it.
func formatTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Local().Format("2006-01-02 15:04:05")
}

// foreignText is a text of others as it may be shown: what cannot be seen is written out, and
// directions of writing end with it.
func foreignText(text string) template.HTML {
	shown := sanitize.EscapeInvisible(aai.CleanText(text, maxForeignText))
	return template.HTML(`<bdi class="theirs">` + template.HTMLEscapeString(shown) + `</bdi>`) //nolint:gosec // it is escaped
}

// write writes a page.
func (d *Door) write(w http.ResponseWriter, status int, name string, shown pageView) {
	d.writePart(w, status, name, layoutName, shown)
}

// The templates of a page beside the whole: what of it changes, and of the error's the page
// that loads nothing, and what that says.
const (
	innerName        = "inner"
	staleName        = "stale"
	staleContentName = "stale-content"
)

// writePart writes a page, or what of it changes.
func (d *Door) writePart(w http.ResponseWriter, status int, name, part string, shown pageView) {
	shown.Style, shown.Script, shown.Icon = d.static.style, d.static.script, d.static.icon
	var b bytes.Buffer
	if err := d.templates[shown.Lang+" "+name].ExecuteTemplate(&b, part, shown); err != nil {
		d.log.Error("a page cannot be written", "page", name, "cause", err)
		http.Error(w, "this page cannot be written; the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // whoever is gone does not need it
}
