package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/schema/jsonscan"
)

// Limits for content other than text.
const (
	maxPicture = 3 << 20  // bytes of a picture
	maxInline  = 64 << 10 // bytes of other binary content
)

// withSource marks a result as data from the server.
func (s *session) withSource(r *aai.Result) *aai.Result {
	r.UntrustedSource = "the MCP server of " + s.app
	return r
}

// result converts a tool's result, or the error that it reports.
func (s *session) result(r *sdk.CallToolResult, data any) (*aai.Result, *aai.Error) {
	out := &aai.Result{}
	texts := s.content(out, r.Content)
	out.Data = sanitize.MapTexts(data, s.cleanText)
	if data != nil && len(texts) == 1 && isJSONOf(texts[0], data) {
		texts = nil // the text repeats the data, for clients that ignore it
	}
	out.Text = strings.Join(texts, "\n")
	if !r.IsError {
		return out, nil
	}
	words := out.Text
	if words == "" && out.Data != nil {
		b, err := json.Marshal(out.Data)
		if words = string(b); err != nil {
			words = ""
		}
	}
	return nil, &aai.Error{
		Code: aai.AutomationFailed, Delivery: aai.Delivered, Data: out.Data,
		Message: fmt.Sprintf("the MCP server of %s reports an error: %s", s.app, s.quote(words)),
	}
}

// content adds a list of contents to a result, and returns their texts.
func (s *session) content(out *aai.Result, contents []sdk.Content) (texts []string) {
	for _, content := range contents {
		switch c := content.(type) {
		case *sdk.TextContent:
			texts = append(texts, s.cleanText(c.Text))
		case *sdk.ImageContent:
			texts = append(texts, s.picture(out, c.MIMEType, c.Data))
		case *sdk.AudioContent:
			texts = append(texts, s.fileText("A sound", c.MIMEType, c.Data))
		case *sdk.ResourceLink:
			texts = append(texts, fmt.Sprintf("A resource: %s %s", aai.CleanLabel(c.URI, 500), s.cleanText(c.Name)))
		case *sdk.EmbeddedResource:
			if c.Resource != nil {
				texts = append(texts, s.embedded(out, c.Resource))
			}
		default:
			texts = append(texts, fmt.Sprintf("Content of an unsupported kind (%T) is omitted.", content))
		}
	}
	return texts
}

func (s *session) embedded(out *aai.Result, r *sdk.ResourceContents) string {
	name := "The resource " + aai.CleanLabel(r.URI, 500)
	switch {
	case r.Text != "" || len(r.Blob) == 0:
		return name + ":\n" + s.cleanText(r.Text)
	case isPicture(r.MIMEType, r.Blob):
		return name + ": " + s.picture(out, r.MIMEType, r.Blob)
	}
	return s.fileText(name, r.MIMEType, r.Blob)
}

// picture adds a picture to the result if it is valid.
func (s *session) picture(out *aai.Result, mime string, data []byte) string {
	if !isPicture(mime, data) {
		return s.fileText("A picture that cannot be shown", mime, data)
	}
	out.Images = append(out.Images, aai.Image{MIME: mime, Data: data})
	return fmt.Sprintf("A picture, %s, %d bytes.", mime, len(data))
}

func isPicture(mime string, data []byte) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return len(data) <= maxPicture && http.DetectContentType(data) == mime
	}
	return false
}

// fileText describes content that is neither text nor a picture.
func (s *session) fileText(what, mime string, data []byte) string {
	text := fmt.Sprintf("%s, %s, %d bytes", what, aai.CleanLabel(mime, 100), len(data))
	switch {
	case s.secrets.IsIn(data): // base64 would hide the secret from later checks
		return text + "; its content is omitted, since it contains a secret of the server."
	case len(data) > maxInline:
		return fmt.Sprintf("%s; its content is omitted, since it has more than %d KiB.", text, maxInline>>10)
	}
	return text + ", in base64: " + base64.StdEncoding.EncodeToString(data)
}

// cleanText removes invisible characters and secrets from a server's text.
func (s *session) cleanText(text string) string {
	return s.secrets.Redact(aai.CleanText(strings.ReplaceAll(text, "\r\n", "\n"), math.MaxInt))
}

// isJSONOf reports whether a text is the JSON of the value. It decodes no text with too many values.
func isJSONOf(text string, value any) bool {
	if jsonscan.Scan([]byte(text)).Values > maxValues {
		return false
	}
	other, err := decodeExact([]byte(text))
	if err != nil {
		return false
	}
	return reflect.DeepEqual(other, value)
}

// decodeExact decodes JSON and keeps numbers exact.
func decodeExact(b []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err = d.Decode(&value); err == nil && d.More() {
		err = fmt.Errorf("unexpected data follows the value")
	}
	return value, err
}
