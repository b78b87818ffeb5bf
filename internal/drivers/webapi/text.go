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

// decode makes UTF-8 of text in the character set that the server names. A byte
// order mark is believed before the name (WHATWG Encoding, section 6); without
// either, what is no UTF-8 is windows-1252, as for browsers.
func (x *exchange) decode(body []byte, charset string) string {
	var from encoding.Encoding
	if charset != "" {
		from, _ = htmlindex.Get(charset) // nil for a name that nobody knows
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

// decodeJSON is decode for JSON, which is UTF-8 where nobody says otherwise (RFC
// 8259, section 8.1). What is no UTF-8 stays, for the reader to refuse.
func (x *exchange) decodeJSON(body []byte, charset string) string {
	if charset == "" || strings.EqualFold(charset, "utf-8") {
		return string(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	}
	return x.decode(body, charset)
}

// clean takes out of a server's text what cannot be seen and may mislead, and what
// makes the person known.
func (x *exchange) clean(text string) string {
	if !isPlain(text) {
		text = aai.CleanText(strings.ReplaceAll(text, "\r\n", "\n"), math.MaxInt)
	}
	return x.secrets.hide(text)
}

// isPlain reports whether a text is ASCII that can be seen.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}
