package webapi

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/gybob/aai-gateway"
)

// Values of a recipe's OutputParser; empty means by content type.
const (
	parseJSON   = "json"
	parseString = "string"
)

// maxInline is the limit, in bytes, for including content that is neither text nor a picture.
const maxInline = 64 << 10

// maxPicture is the limit, in bytes, for a picture: model APIs accept up to 5 MB in base64.
const maxPicture = 3 << 20

// contentClass decides how a response becomes a result.
type contentClass int

const (
	classOther contentClass = iota
	classJSON
	classText
	classPicture
)

// contentKind is the declared type of a response, checked against its content.
type contentKind struct {
	class   contentClass
	media   string // such as "application/json"
	charset string // as declared, or empty
}

// result converts a complete response into the tool's result.
func (x *exchange) result(body []byte) *aai.Result {
	if x.method == http.MethodHead {
		return x.headResult()
	}
	if len(body) == 0 {
		return x.emptyResult()
	}
	k := x.kindOf(body)
	switch k.class {
	case classJSON:
		return x.jsonResult(x.decodeJSON(body, k.charset))
	case classText:
		return &aai.Result{Text: x.clean(x.decode(body, k.charset))}
	case classPicture:
		if x.secrets.IsIn(body) {
			return x.otherResult(k, body)
		}
		return &aai.Result{
			Text:   fmt.Sprintf("A picture, %s, %s.", k.media, sizeText(int64(len(body)))),
			Images: []aai.Image{{MIME: k.media, Data: body}},
		}
	}
	return x.otherResult(k, body)
}

func (x *exchange) kindOf(body []byte) contentKind {
	declared := x.resp.Header.Get("Content-Type")
	if declared == "" {
		declared = http.DetectContentType(body)
	}
	media, params, err := mime.ParseMediaType(declared)
	if err != nil {
		media, params, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	k := contentKind{media: media, charset: params["charset"]}
	switch {
	case x.recipe.OutputParser == parseJSON, x.recipe.OutputParser == "" && isJSON(media):
		k.class = classJSON
	case x.recipe.OutputParser == parseString:
		k.class = classText
	case isText(media) && !isBinary(body, k.charset):
		k.class = classText
	case isPicture(media) && len(body) <= maxPicture && http.DetectContentType(body) == media:
		k.class = classPicture
	}
	return k
}

// isText reports whether a media type is readable text.
func isText(media string) bool {
	switch media {
	case "application/xml", "application/yaml", "application/x-yaml", "application/toml", "application/javascript",
		"application/x-ndjson", "application/jsonl", "application/json-seq", "application/sql", "application/graphql",
		"application/x-www-form-urlencoded", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+xml") || strings.HasSuffix(media, "+yaml") ||
		isJSON(media)
}

// isPicture reports whether models accept the picture's media type.
func isPicture(media string) bool {
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// isBinary reports whether a body declared as text is binary. UTF-16 contains NULs too, but
// declares itself or begins with a byte order mark.
func isBinary(body []byte, charset string) bool {
	return http.DetectContentType(body) == "application/octet-stream" &&
		!strings.HasPrefix(strings.ToLower(charset), "utf-16")
}

// jsonResult parses a JSON response. The server has already acted, so a response that is not JSON
// becomes text with a warning.
func (x *exchange) jsonResult(text string) *aai.Result {
	value, spelled, err := readJSON(text, x.clean)
	if err != nil {
		return &aai.Result{
			Text:    x.clean(text),
			Warning: "the answer should be JSON and is not: " + err.Error() + "; it is given as text",
		}
	}
	return &aai.Result{Data: value, Text: spelled}
}

func (x *exchange) emptyResult() *aai.Result {
	r := &aai.Result{Text: "The app answered " + statusText(x.resp.StatusCode) + ", without content."}
	if location := x.resp.Header.Get("Location"); location != "" {
		location = aai.CleanLabel(x.secrets.Redact(location), 500)
		r.Text += " It names the address " + location + "."
		r.Data = map[string]any{"location": location}
	}
	return r
}

// headResult returns the status and the descriptive headers of a response to HEAD.
func (x *exchange) headResult() *aai.Result {
	headers := map[string]any{}
	text := "The app answered " + statusText(x.resp.StatusCode) + "."
	for _, name := range []string{
		"Content-Type", "Content-Length", "Content-Language", "Last-Modified", "ETag", "Expires", "Location", "Link",
		"Accept-Ranges", "Allow", "Content-Disposition", "Cache-Control",
	} {
		if value := x.resp.Header.Get(name); value != "" {
			value = aai.CleanLabel(x.secrets.Redact(value), 500)
			headers[strings.ToLower(name)] = value
			text += "\n" + name + ": " + value
		}
	}
	return &aai.Result{Text: text, Data: map[string]any{"status": x.resp.StatusCode, "headers": headers}}
}

// otherResult describes content that is neither text nor a picture.
func (x *exchange) otherResult(k contentKind, body []byte) *aai.Result {
	media := aai.CleanLabel(k.media, 100)
	text := fmt.Sprintf("A file, %s, %s", media, sizeText(int64(len(body))))
	data := map[string]any{"content_type": media, "size": len(body)}
	if name := x.filename(); name != "" {
		data["filename"] = name
		text += ", " + name
	}
	switch {
	case x.secrets.IsIn(body): // base64 would hide the secret from later checks
		text += "; its content is omitted, since it contains the person's login for the app"
	case len(body) <= maxInline:
		data["base64"] = base64.StdEncoding.EncodeToString(body)
	default:
		text += "; its content is omitted, since it is larger than " + sizeText(maxInline)
	}
	return &aai.Result{Text: text + ".", Data: data}
}

// filename returns the base name of the file name that the server sends.
func (x *exchange) filename() string {
	_, params, err := mime.ParseMediaType(x.resp.Header.Get("Content-Disposition"))
	if err != nil || params["filename"] == "" {
		return ""
	}
	name := path.Base(strings.ReplaceAll(params["filename"], `\`, "/"))
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	return aai.CleanLabel(x.secrets.Redact(name), 100)
}
