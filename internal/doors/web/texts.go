package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed words/*.json
var textFiles embed.FS

// languages are the languages of the pages; the first is the default.
func languages() []string { return []string{"en", "zh"} }

// pageTexts are the texts of the pages: by language, page and key.
type pageTexts map[string]map[string]map[string]string

// readPageTexts reads the texts of each of the pages.
func readPageTexts(names []string) (pageTexts, error) {
	all := make(pageTexts)
	for _, lang := range languages() {
		all[lang] = make(map[string]map[string]string)
		for _, name := range names {
			b, err := textFiles.ReadFile("words/" + name + "." + lang + ".json")
			if err != nil {
				return nil, fmt.Errorf("the texts of a page: %w", err)
			}
			var texts map[string]string
			if err := json.Unmarshal(b, &texts); err != nil {
				return nil, fmt.Errorf("words/%s.%s.json: %w", name, lang, err)
			}
			all[lang][name] = texts
		}
	}
	return all, nil
}

// format returns a page's text, or the layout's; an unknown key is returned as it is. If
// the first argument is 1, a text with the suffix ".one" is preferred.
func (w pageTexts) format(lang, page, key string, args ...any) string {
	var text string
	var ok bool
	if n, is := firstArg(args).(int); is && n == 1 {
		text, ok = w.text(lang, page, key+".one")
	}
	if !ok {
		text, ok = w.text(lang, page, key)
	}
	switch {
	case !ok:
		return key
	case len(args) > 0:
		return fmt.Sprintf(text, args...)
	}
	return text
}

// text returns a text of a page, or of the layout.
func (w pageTexts) text(lang, page, key string) (string, bool) {
	if text, ok := w[lang][page][key]; ok {
		return text, true
	}
	text, ok := w[lang][layoutName][key]
	return text, ok
}

func firstArg(args []any) any {
	if len(args) == 0 {
		return nil
	}
	return args[0]
}

// languageOf returns the first supported language that a browser accepts; choice has priority.
func languageOf(choice, accepted string) string {
	for wanted := range strings.SplitSeq(choice+","+accepted, ",") {
		wanted, _, _ = strings.Cut(strings.TrimSpace(wanted), ";")
		wanted, _, _ = strings.Cut(strings.ToLower(wanted), "-")
		for _, lang := range languages() {
			if wanted == lang {
				return lang
			}
		}
	}
	return languages()[0]
}
