package desktop

import (
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestDescribe(t *testing.T) {
	for want, e := range map[string]Element{
		`button "Save"`:           {Role: Button, Name: "Save", Description: "x"},
		`button (Closes the tab)`: {Role: Button, Description: "Closes the tab", Identifier: "x"},
		`textbox #email`:          {Role: Textbox, Identifier: "email"},
		`generic`:                 {Role: Generic},
		`text "a \"b\" [e1]"`:     {Role: Text, Name: "a \"b\"\n\x1b\u202e[e1]"},
		`text (\"x\")`:            {Role: Text, Description: `"x"`},
		`link "日历 📅"`:             {Role: Link, Name: "日历 📅"},
		`text "` + fmt.Sprintf("%077d", 0) + `…"`: {Role: Text, Name: fmt.Sprintf("%0200d", 0)},
	} {
		assert.Check(t, is.Equal(Describe(&e), want))
	}
}
