package webapi

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/gybob/aai-gateway"
)

// decode converts text from the named character set to UTF-8. A byte order mark overrides the name
// (WHATWG Encoding, section 6). Without either, text that is not valid UTF-8 is windows-1252, as
// in browsers.
func (x *exchange) decode(body []byte, charset string) string {
	var from encoding.Encoding
	if charset != "" {
		from, _ = htmlindex.Get(charset) // nil for an unknown name
	}
	switch {
	case from == nil && utf8.Valid(body):
		from = encoding.Nop
	case from == nil && charset == "":
		from = charmap.Windows1252
	case from == nil:
		from = encoding.Nop
	}
	text, _, err := transform.Bytes(unicode.BOMOverride(from.NewDecoder()), body)
	if err != nil {
		return string(body)
	}
	return string(text)
}

// decodeJSON decodes JSON, which is UTF-8 by default (RFC 8259, section 8.1). It keeps invalid
// UTF-8, for the reader to reject.
func (x *exchange) decodeJSON(body []byte, charset string) string {
	if charset == "" || strings.EqualFold(charset, "utf-8") {
		return string(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	}
	return x.decode(body, charset)
}

// clean removes invisible and misleading characters from a server's text, and redacts the
// credentials.
func (x *exchange) clean(text string) string {
	if !isPlain(text) {
		text = aai.CleanText(strings.ReplaceAll(text, "\r\n", "\n"), math.MaxInt)
	}
	return x.secrets.Redact(text)
}

// isPlain reports whether a text is visible ASCII.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}
