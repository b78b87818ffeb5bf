package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"
)

// sentenceTranslations translate English sentences of the doctor and of integrations, those
// with the most literal letters first.
type sentenceTranslations []sentenceTranslation

// A sentenceTranslation is one sentence, with numbered placeholders for variable parts.
type sentenceTranslation struct {
	english *regexp.Regexp
	letters int // letters outside of placeholders
	places  []string
	other   string
}

// placeholder matches a placeholder in a sentence, such as {1}.
var placeholder = regexp.MustCompile(`\{\d\}`)

// readTranslations reads the sentences of each language that has some.
func readTranslations() (map[string]sentenceTranslations, error) {
	all := make(map[string]sentenceTranslations)
	for _, lang := range languages()[1:] {
		b, err := textFiles.ReadFile("words/findings." + lang + ".json")
		if err != nil {
			return nil, fmt.Errorf("the texts of findings: %w", err)
		}
		var table map[string]string
		if err := json.Unmarshal(b, &table); err != nil {
			return nil, fmt.Errorf("words/findings.%s.json: %w", lang, err)
		}
		var of sentenceTranslations
		for english, other := range table {
			literal := placeholder.Split(english, -1)
			for i := range literal {
				literal[i] = regexp.QuoteMeta(literal[i])
			}
			pattern, err := regexp.Compile(`(?s)\A` + strings.Join(literal, `(.+?)`) + `\z`)
			if err != nil {
				return nil, fmt.Errorf("words/findings.%s.json: %w", lang, err)
			}
			of = append(of, sentenceTranslation{pattern, len(placeholder.ReplaceAllString(english, "")), placeholder.FindAllString(english, -1), other})
		}
		slices.SortFunc(of, func(a, b sentenceTranslation) int { return cmp.Or(b.letters-a.letters, cmp.Compare(a.other, b.other)) })
		all[lang] = of
	}
	return all, nil
}

// translate returns a text in the reader's language if a translation exists, else marked as
// English. Foreign text is marked as such.
func (f sentenceTranslations) translate(text string) template.HTML {
	for _, s := range f {
		found := s.english.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		return template.HTML(placeholder.ReplaceAllStringFunc(template.HTMLEscapeString(s.other), func(name string) string { //nolint:gosec // its parts are escaped
			return string(f.translate(found[slices.Index(s.places, name)+1]))
		}))
	}
	if !strings.Contains(text, " ") {
		return foreignText(text) // a name, a path or a number
	}
	return template.HTML(`<span lang="en">` + string(foreignText(text)) + `</span>`) //nolint:gosec // it is escaped
}
