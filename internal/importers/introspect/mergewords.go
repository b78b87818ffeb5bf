package introspect

import (
	"bytes"
	"encoding/json"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/lint"
)

// MergeWords returns a copy of d with the texts of another version, such as a model's or a person's. The texts are
// the app's description, and titles and descriptions of tools and their parameters. It takes no calls, addresses,
// names, types, defaults or new tools, and no texts that lint warns of. It may raise an effect, and never lowers one.
// taken is the number of changed texts and effects.
func MergeWords(d, by *catalog.Document) (improved *catalog.Document, taken int) {
	w := wordMerger{isSuspicious: lint.SuspiciousTextDetector()}
	out := *d
	out.Description = w.chooseText(d.Description, by.Description)
	out.Sections = append([]catalog.Section{}, d.Sections...)
	for i := range out.Sections {
		section := &out.Sections[i]
		section.Tools = append([]catalog.ToolDeclaration{}, section.Tools...)
		for _, other := range by.Sections {
			if other.Platform == section.Platform {
				w.tools(section, &other)
			}
		}
	}
	return &out, w.count
}

// wordMerger merges texts and counts them.
type wordMerger struct {
	count        int
	isSuspicious func(string) bool
}

func (w *wordMerger) tools(section, by *catalog.Section) {
	others := make(map[string]*catalog.ToolDeclaration, len(by.Tools))
	for i := range by.Tools {
		others[by.Tools[i].Name] = &by.Tools[i]
	}
	for i := range section.Tools {
		tool := &section.Tools[i]
		other := others[tool.Name]
		if other == nil {
			continue
		}
		tool.Title = w.chooseText(tool.Title, other.Title)
		tool.Description = w.chooseText(tool.Description, other.Description)
		tool.Params = w.mergeSchema(tool.Params, other.Params)
		if other.Effect != nil && tool.Effect != nil && *other.Effect < *tool.Effect {
			raised := *other.Effect
			tool.Effect = &raised
			w.count++
		}
	}
}

// chooseText returns the new text if it is safe and can be displayed unchanged.
func (w *wordMerger) chooseText(old, text string) string {
	if text == "" || text == old || aai.CleanText(text, maxDescription) != text || w.isSuspicious(text) {
		return old
	}
	w.count++
	return text
}

// mergeSchema returns an argument schema with the descriptions from another schema's properties
// of the same name. Its other bytes are unchanged.
func (w *wordMerger) mergeSchema(source, by json.RawMessage) json.RawMessage {
	var theirs struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	if json.Unmarshal(by, &theirs) != nil {
		return source
	}
	whole, ok := members(source)
	if !ok {
		return source
	}
	at := find(whole, "properties")
	if at < 0 {
		return source
	}
	properties, ok := members(whole[at].value)
	if !ok {
		return source
	}
	changed := false
	for i := range properties {
		given := theirs.Properties[properties[i].name].Description
		about, ok := members(properties[i].value)
		if !ok {
			continue
		}
		old, place := "", find(about, "description")
		if place >= 0 && json.Unmarshal(about[place].value, &old) != nil {
			continue
		}
		text := w.chooseText(old, given)
		if text == old {
			continue
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			continue
		}
		if place >= 0 {
			about[place].value = quoted
		} else {
			about = append(about, member{"description", quoted})
		}
		properties[i].value, changed = written(about), true
	}
	if !changed {
		return source
	}
	whole[at].value = written(properties)
	return written(whole)
}

// A member is a member of a JSON object, in order.
type member struct {
	name  string
	value json.RawMessage
}

// members returns the members of an object; ok is false for other values.
func members(source json.RawMessage) (list []member, ok bool) {
	d := json.NewDecoder(bytes.NewReader(source))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		text, isText := name.(string)
		var value json.RawMessage
		if err != nil || !isText || d.Decode(&value) != nil {
			return nil, false
		}
		list = append(list, member{text, value})
	}
	return list, true
}

func find(list []member, name string) int {
	for i := range list {
		if list[i].name == name {
			return i
		}
	}
	return -1
}

func written(list []member) json.RawMessage {
	b := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			name = []byte(`""`)
		}
		b = append(append(append(b, name...), ':'), m.value...)
	}
	return append(b, '}')
}
