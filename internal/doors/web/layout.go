package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

//go:embed templates/*.html
var templateFiles embed.FS

// The templates and texts that belong to no page.
const (
	layoutName = "layout"
	enterName  = "enter"
	errorName  = "error"
)

// A pageView is the data of a template.
type pageView struct {
	Title  string
	Named  string // the subject of the page, as its author named it; "" if the title is enough
	Lang   string
	Page   string    // the name of the page
	Nav    []navItem // nil before the login
	Here   string    // the address of this page
	Csrf   template.HTML
	Notice string // the outcome of the last act
	Style  string // the address of the style sheet
	Icon   string
	Script string // of the script that updates a page; "" before the login
	Again  string // the address for reloads
	Finds  string // the form with the parameters for reloads; "": none
	Live   string // the events that reload the page, in htmx's syntax
	Read   uint64 // the number of events before the page was read
	Data   any
	Done   any  // the result of an act
	Halted bool // everything is stopped, and the page itself does not show it
	Fault  *aai.Error
}

// titled is implemented by .Data of pages about one thing, which the title names.
type titled interface{ Subject() string }

// Head returns the document's title. The subject comes first, since tabs show only the beginning.
func (v pageView) Head() string {
	title := v.Title + " · AAI Gateway"
	if v.Named != "" {
		title = sanitize.EscapeInvisible(aai.CleanLabel(v.Named, maxHead)) + " · " + title
	}
	return title
}

// maxHead limits the subject in the title, in bytes.
const maxHead = 120

// A navItem is a page in the navigation.
type navItem struct {
	Path, Name string
	Here       bool
}

// maxForeignText limits the foreign text that a page shows, in bytes.
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
				"callPath": func(call string) string { return "/history/" + url.PathEscape(call) },
				"period":   periodName,
				"patience": func() int { return int(gateway.AskTimeout.Seconds()) },
			}).ParseFS(templateFiles, "templates/layout.html", "templates/stop.html", "templates/calls.html", "templates/"+name+".html")
			if err != nil {
				return nil, fmt.Errorf("the page %s: %w", name, err)
			}
			all[lang+" "+name] = t
		}
	}
	return all, nil
}

// formatTime formats a time in the local time zone.
func formatTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Local().Format("2006-01-02 15:04:05")
}

// foreignText formats a foreign text: invisible characters are escaped, and its text
// direction is isolated.
func foreignText(text string) template.HTML {
	shown := sanitize.EscapeInvisible(aai.CleanText(text, maxForeignText))
	return template.HTML(`<bdi class="theirs">` + template.HTMLEscapeString(shown) + `</bdi>`) //nolint:gosec // it is escaped
}

// write writes a page.
func (d *Door) write(w http.ResponseWriter, status int, name string, shown pageView) {
	d.writePart(w, status, name, layoutName, shown)
}

// The templates for parts of a page: its changing part, the error page of a stale start,
// and that page's content.
const (
	innerName        = "inner"
	staleName        = "stale"
	staleContentName = "stale-content"
)

// writePart writes a page, or a part of it.
func (d *Door) writePart(w http.ResponseWriter, status int, name, part string, shown pageView) {
	shown.Style, shown.Script, shown.Icon = d.static.style, d.static.script, d.static.icon
	var b bytes.Buffer
	if err := d.templates[shown.Lang+" "+name].ExecuteTemplate(&b, part, shown); err != nil {
		d.log.Error("a page cannot be written", "page", name, "cause", err)
		http.Error(w, "this page cannot be shown; see the log", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // fails if the browser has disconnected
}
