package introspect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/answer"
)

// replaceSuspicious replaces untrusted texts that lint warns of by plain ones, and reports
// whether there were any.
func (d *Draft) replaceSuspicious(list []proposal) bool {
	tools := d.Document.Sections[0].Tools
	found := false
	for _, f := range d.Report.Findings {
		if !slices.Contains([]string{"poisoning", "unseen", "disguise", "markup", "secret"}, f.Rule) ||
			f.Severity == answer.SeverityHint {
			continue
		}
		i := 0
		if n, _ := fmt.Sscanf(f.Path, "tools[%d]", &i); n == 1 && i < len(tools) {
			switch {
			case tools[i].Description != list[i].plainDescription:
				tools[i].Description = list[i].plainDescription
			default:
				tools[i].Params, tools[i].Returns = stripDescriptions(tools[i].Params), stripDescriptions(tools[i].Returns)
			}
			found = true
			continue
		}
		if strings.HasPrefix(f.Path, "app.") {
			plain := lastPart(d.Document.ID)
			found = found || d.Document.Name != plain
			d.Document.Name, d.Document.Aliases = plain, nil
			d.Document.Description = "What " + plain + " offers to other programs."
		}
	}
	return found
}

// stripDescriptions returns a schema without its descriptions.
func stripDescriptions(source json.RawMessage) json.RawMessage {
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
