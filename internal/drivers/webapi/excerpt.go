package webapi

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gybob/aai-gateway"
)

// maxWords is how much of what a server says in an error is told, in bytes.
const maxWords = 300

// excerpt is the useful part of what comes with an error: one cleaned line without
// what makes the person known.
func (x *exchange) excerpt(ctx context.Context) string {
	body, err := x.read(ctx, maxRefusal)
	if err != nil || len(body) == 0 {
		return ""
	}
	kind := x.kindOf(body)
	if kind.class != classJSON && kind.class != classText {
		return ""
	}
	text := x.decode(body, kind.charset)
	if value, _, err := readJSON(x.decodeJSON(body, kind.charset), x.clean); err == nil {
		text = errorTextIn(value, 3)
		if text == "" {
			text = compact(value)
		}
	} else if strings.HasSuffix(kind.media, "html") {
		text = titleOf(text)
	}
	return aai.CleanLabel(x.secrets.hide(text), maxWords)
}

// errorTextIn finds what an error says in the forms that are in use: problem details
// (RFC 9457), OAuth's (RFC 6749, section 5.2), {"error": {"message": …}},
// {"errors": […]} and plain ones. Depth bounds how deep it looks.
func errorTextIn(value any, depth int) string {
	if depth == 0 {
		return ""
	}
	switch v := value.(type) {
	case string:
		return v
	case []any:
		if len(v) > 0 {
			return errorTextIn(v[0], depth-1)
		}
	case map[string]any:
		return errorTextInObject(v, depth)
	}
	return ""
}

func errorTextInObject(object map[string]any, depth int) string {
	texts := func(names ...string) string {
		var found []string
		for _, name := range names {
			if text, ok := object[name].(string); ok && text != "" {
				found = append(found, text)
			}
		}
		return strings.Join(found, ": ")
	}
	for _, said := range []string{texts("title", "detail"), texts("error", "error_description"), texts("message")} {
		if said != "" {
			return said
		}
	}
	for _, name := range []string{"error", "errors", "fault", "detail"} {
		if said := errorTextIn(object[name], depth-1); said != "" {
			return said
		}
	}
	return texts("msg", "reason", "description")
}

func compact(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// titleOf is the title of an HTML page; the rest of an error page is decoration.
func titleOf(page string) string {
	lower := strings.ToLower(page)
	if len(lower) != len(page) {
		return ""
	}
	start := strings.Index(lower, "<title>")
	if start < 0 {
		return ""
	}
	start += len("<title>")
	end := strings.Index(lower[start:], "</title>")
	if end < 0 {
		return ""
	}
	return page[start : start+end]
}
