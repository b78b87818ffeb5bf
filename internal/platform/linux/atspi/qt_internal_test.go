package atspi

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestWithoutTags(t *testing.T) {
	for text, want := range map[string]string{
		"Save <all>": "Save <all>",
		"":           "",
		"<b>":        "<b>",
		"<html><head/><body><p>Results of the <b>last</b> statements.</p><p>R&amp;D</p></body></html>":                          "Results of the last statements. R&D",
		`<!DOCTYPE HTML PUBLIC "-//W3C"><html><head><style type="text/css">p { color: red }</style></head>Two<br/>lines</html>`: "Two lines",
		"<html><head/><body><p>Delete everything</p><style></style>OK</body></html>":                                            "Delete everything OK",
		"<html><b>D</b>elete the project</html>":                                                                                "Delete the project",
		`<html><img src=":/delete.png"/> </html>`:                                                                               `<html><img src=":/delete.png"/> </html>`,
		"<html><style>p{}</style></html>":                                                                                       "<html><style>p{}</style></html>",
		"<html>unclosed <p":                                                                                                     "unclosed <p",
	} {
		assert.Check(t, is.Equal(withoutTags(text), want), "%q", text)
	}
}
