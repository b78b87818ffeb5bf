package script

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestWhatAScriptAnswers: the result is the last expression, or the returned value, as JSON.
func TestWhatAScriptAnswers(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]string{
		`1 + 1`:                          `2`,
		`return args.a`:                  `"b"`,
		`await 1; return {x: [1, null]}`: `{"x":[1,null]}`,
		"const r = await call('org.example.notes', 'read', {cell: 3})\nr.value // that": `"v3"`,
		`if (true) { return "early" } ; 5`:                                              `"early"`,
		`undefined`:                                                                     `null`,
		`let s = 0; for (let i = 0; i < 50; i++) s += call("org.example.notes", "read", {cell: i}).cell; s`: `1225`,
		`call("org.example.notes", "words")`:    `"some words"`,
		`find("Calc", "role:button Equals").by`: `"role:button Equals"`,
		`try { call("org.example.notes", "fail") } catch (e) { [e instanceof Error, e.code, e.message, e.hint, e.delivery, e.candidates] }`: `[true,"ELEMENT_NOT_FOUND","no such note","Look at the list.","not_delivered",["milk"]]`,
		`try { call("nobody", "x") } catch (e) { e.code }`:              `"APP_NOT_FOUND"`,
		`try { call() } catch (e) { e.code }`:                           `"INVALID_PARAMS"`,
		`sleep(5); typeof require + typeof process + typeof setTimeout`: `"undefinedundefinedundefined"`,
		"new Date(0).toISOString()":                                     `"1970-01-01T00:00:00.000Z"`,
	} {
		a := w.answers(t, text, map[string]any{"args": map[string]any{"a": "b"}})
		assert.Check(t, is.Equal(string(a.Result), want), "%s %s", text, a.Result)
	}
}

func TestAScriptThatIsNone(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]string{
		"let a = 1\nlet b = ;":       "SCRIPT_PARSE_ERROR: line 2, column 9: Unexpected token ;",
		"return 1 +":                 "SCRIPT_PARSE_ERROR: line 1, column 11: Unexpected end of input",
		"a b":                        "SCRIPT_PARSE_ERROR: line 1, column 3: Unexpected identifier",
		"undefined.x":                "AUTOMATION_FAILED: line 1: TypeError: Cannot read property 'x' of undefined",
		"1;\n\nthrow new Error('x')": "AUTOMATION_FAILED: line 3: Error: x",
		"throw 7":                    "AUTOMATION_FAILED: line 1: 7",
		"call('org.example.notes', 'add', {text: 'a'});\ncall('org.example.notes', 'fail')": "AUTOMATION_FAILED: line 2: ELEMENT_NOT_FOUND: no such note; 1 of its acts reached their apps (org.example.notes:add ×1) and were not undone",
		"await call('org.example.notes', 'fail')":                                           "AUTOMATION_FAILED: line 1: ELEMENT_NOT_FOUND: no such note",
	} {
		assert.Check(t, is.Equal(w.fails(t, text, nil).Error(), want), text)
	}
	for _, language := range []string{"applescript", "jxa"} {
		e := w.fails(t, "1", map[string]any{"language": language})
		assert.Check(t, is.Equal(e.Code, aai.AutomationNotSupported), "%s %v", language, e)
	}
}
