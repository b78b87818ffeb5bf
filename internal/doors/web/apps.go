package web

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// appsPage lists the apps, and searches them.
func appsPage() page {
	return page{name: "apps", path: "/apps", nav: true, live: []string{EventApps}, searchForm: "#find", show: showApps}
}

// knownApp is an app in the answer of the tool "apps".
type knownApp struct {
	answer.App
	Icon, Initial string
}

// appsPageData is the data of the page of apps.
type appsPageData struct {
	Query string
	Apps  []knownApp
	More  int // apps that are not shown
}

// appsLimit limits the apps on one page.
const appsLimit = 100

func showApps(v *pageRequest) (any, error) {
	all, err := v.apps()
	if err != nil {
		return nil, err
	}
	shown := appsPageData{Query: v.search()}
	for _, app := range all {
		if app.matches(shown.Query) {
			shown.Apps = append(shown.Apps, app)
		}
	}
	if shown.More = max(0, len(shown.Apps)-appsLimit); shown.More > 0 {
		shown.Apps = shown.Apps[:appsLimit]
	}
	ids := make([]string, len(shown.Apps))
	for i, app := range shown.Apps {
		ids[i] = app.ID
	}
	icons := v.icons(ids)
	for i := range shown.Apps {
		shown.Apps[i].Icon = icons[shown.Apps[i].ID]
	}
	return shown, nil
}

// search returns the page's query, cleaned to be shown again.
func (v *pageRequest) search() string { return aai.CleanLabel(v.query.Get("q"), 200) }

// apps returns all apps, with names in the language of the request.
func (v *pageRequest) apps() ([]knownApp, error) {
	var all []knownApp
	if err := v.read("apps", nil, &all); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Aliases = append(all[i].Aliases, strings.Split(all[i].Name, "|")...)
		all[i].Name = nameIn(v.lang, all[i].Name, all[i].ID)
		all[i].Initial = firstLetter(all[i].Name)
	}
	return all, nil
}

// matches reports whether the app's names, id and description contain all words of a query.
func (a *knownApp) matches(query string) bool {
	about := strings.ToLower(strings.Join(slices.Concat(a.Aliases, []string{a.Name, a.ID, a.Description}), "\n"))
	return containsAll(about, query)
}

// nameIn returns the name of an app in a language, from names that are joined by "|".
func nameIn(lang, names, id string) string {
	first := ""
	for name := range strings.SplitSeq(names, "|") {
		name = aai.CleanLabel(name, 200)
		if name == "" {
			continue
		}
		if first == "" {
			first = name
		}
		if strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.Han, r) }) == (lang == "zh") {
			return name
		}
	}
	if first == "" {
		return id
	}
	return first
}

// firstLetter returns the letter that replaces an icon.
func firstLetter(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return strings.ToUpper(string(r))
		}
	}
	return "?"
}
