package patterns

import (
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// The tools that suggestions name.
const (
	typeTool  = "ax_type"
	clickTool = "ax_click"
	fillTool  = "ax_fill"
	readTool  = "ax_get_tree"
	waitTool  = "ax_wait_idle"
)

// maxSuggestions limits the suggestions.
const maxSuggestions = 5

// suggest returns next steps for the pattern, with the names of the elements that are there.
func (p *part) suggest(of Pattern) (out []Suggestion) {
	add := func(action, tool string, at int) {
		query := ""
		if at >= 0 {
			if query = p.nameOf(at); query == "" {
				return
			}
		}
		if len(out) < maxSuggestions {
			out = append(out, Suggestion{action, tool, query})
		}
	}
	first := func(list []int) int {
		if len(list) == 0 {
			return -1
		}
		return list[0]
	}
	buttons := func() {
		for _, i := range p.buttons {
			add("Press "+p.nameOf(i), clickTool, i)
		}
	}
	switch of {
	case Login:
		for _, i := range p.texts {
			add("Type the name of the user", typeTool, i)
		}
		add("Fill in the password by {{secret:NAME}}, or let the person type it", typeTool, first(p.passwords))
		buttons()
	case FileSave:
		add("Type the name of the file", typeTool, first(p.texts))
		p.pressFirst(add, lexicon.IsSaveLabel)
		p.pressFirst(add, lexicon.IsCancelLabel)
	case FileOpen:
		if len(p.texts) > 0 {
			add("Type the path of the file", typeTool, first(p.texts))
		}
		p.pressFirst(add, lexicon.IsOpenLabel)
		p.pressFirst(add, lexicon.IsCancelLabel)
	case Confirmation, ErrorAlert:
		buttons()
	case Settings:
		add("Change several settings at once", fillTool, -1)
	case Form:
		add("Fill in the fields at once", fillTool, -1)
	case Search:
		for _, i := range p.texts {
			add("Type the words to search for", typeTool, i)
		}
	case Table:
		add("Read the rows", readTool, -1)
	case Editor:
		if len(p.multiline) > 0 {
			add("Type text", typeTool, p.multiline[0])
		}
	case Progress:
		add("Wait for the end", waitTool, -1)
	}
	return out
}

// pressFirst suggests the first button whose name the test accepts.
func (p *part) pressFirst(add func(string, string, int), is func(string) bool) {
	for _, i := range p.buttons {
		if is(p.Elements[i].Name) {
			add("Press "+p.nameOf(i), clickTool, i)
			return
		}
	}
}

// nameOf returns the text by which a query finds an element.
func (p *part) nameOf(i int) string {
	return strings.TrimSpace(aai.CleanLabel(p.Elements[i].Name, 80))
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }
