package params

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestCheckText: the error names the wrong character and its position; valid texts pass.
func TestCheckText(t *testing.T) {
	const expected = "text: expected no control characters but line breaks and tabs, got "
	for text, want := range map[string]string{
		"":                                   "",
		"a\tb\r\nc \u0085 \ufffd \U0001f642": "",
		"é\x00":                              expected + "U+0000 as character 2",
		"\x7f":                               expected + "U+007F as character 1",
		"ab\xed\xa0\x80":                     expected + "a byte that is not valid UTF-8 as character 3",
	} {
		err, got := CheckText(&aai.Call{Args: map[string]any{"text": text}}), ""
		if e := aai.AsError(err); e != nil {
			got = e.Message
		}
		assert.Check(t, is.Equal(got, want), "%q", text)
	}
}
