package webapi

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gybob/aai-gateway"
)

// maxWords is the limit, in bytes, for a quoted error text of a server.
const maxWords = 300

// excerpt returns the useful part of an error body: one cleaned line with the credentials
// redacted.
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
	return aai.CleanLabel(x.secrets.Redact(text), maxWords)
}

// errorTextIn returns the error text in one of the common forms: problem details (RFC 9457), OAuth
// (RFC 6749, section 5.2), {"error": {"message": …}}, {"errors": […]} and plain ones. depth limits
// the nesting.
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

// titleOf returns the title of an HTML page; the rest of an error page is decoration.
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
