package aai_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func TestScriptsThatRunPrograms(t *testing.T) {
	for script, want := range map[string]string{
		`tell application "Mail" to count messages`:    "",
		`do shell script "id"`:                         "do shell script",
		"Do  ¬\n\tSHELL (* x *) script \"id\"":         "do shell script",
		"do -- c\nshell script":                        "do shell script",
		`run script "beep"`:                            "run script",
		`tell application "Terminal" to do script "x"`: "do script",
		`use framework "Foundation"`:                   "use framework",
		`tell me to «event sysoexec» "id"`:             "«event",
	} {
		got := (&aai.ScriptRecipe{Language: "applescript", Script: script}).ProgramCommands()
		assert.Check(t, is.Equal(strings.Join(got, ","), want), script)
	}
	for script, want := range map[string]string{
		`Application("Mail").messages.length + "${x}"`: "",
		`app.doShellScript("id")`:                      "doShellScript",
		`app["do\u0053hell\x53cript"]("id")`:           "doShellScript",
		`ObjC.import("stdlib"); $.system("id")`:        "ObjC,$",
		`$ ("x")`:                                      "$",
		`[].constructor.constructor("x")()`:            "constructor",
		`(0, eval)("x")`:                               "eval",
		`price$.x + a$(b)`:                             "",
	} {
		got := (&aai.ScriptRecipe{Language: "jxa", Script: script}).ProgramCommands()
		assert.Check(t, is.Equal(strings.Join(got, ","), want), script)
	}
}
