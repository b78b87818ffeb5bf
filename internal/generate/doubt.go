package generate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"aai/internal/lint"
)

// doubted replaces by plain words what lint doubts of a stranger's, and reports whether there
// was any.
func (d *Draft) doubted(list []proposal) bool {
	tools := d.Document.Sections[0].Tools
	found := false
	for _, f := range d.Report.Findings {
		if !slices.Contains([]string{"poisoning", "unseen", "disguise", "markup", "secret"}, f.Rule) || f.Severity == lint.Hint {
			continue
		}
		i := 0
		if n, _ := fmt.Sscanf(f.Path, "tools[%d]", &i); n == 1 && i < len(tools) {
			switch {
			case tools[i].Description != list[i].plain:
				tools[i].Description = list[i].plain
			default:
				tools[i].Params, tools[i].Returns = wordless(tools[i].Params), wordless(tools[i].Returns)
			}
			found = true
			continue
		}
		if strings.HasPrefix(f.Path, "app.") {
			plain := lastPart(d.Document.ID)
			found = found || d.Document.Name != plain
			d.Document.Name, d.Document.Aliases = plain, nil
			d.Document.Description = "What " + plain + " offers to other programs over D-Bus."
		}
	}
	return found
}

// wordless is a schema without its descriptions.
func wordless(source json.RawMessage) json.RawMessage {
	var value any
	if json.Unmarshal(source, &value) != nil {
		return source
	}
	var strip func(any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, isText := v["description"].(string); isText {
				delete(v, "description")
			}
			for _, item := range v {
				strip(item)
			}
		case []any:
			for _, item := range v {
				strip(item)
			}
		}
	}
	strip(value)
	text, err := json.Marshal(value)
	if err != nil {
		return source
	}
	return text
}
