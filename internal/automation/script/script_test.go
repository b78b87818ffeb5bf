package script

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

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

// TestElide: the code stays, and literals and comments do not.
func TestElide(t *testing.T) {
	for script, want := range map[string]string{
		`call('desktop', "ax_type", {text: 'a"b'})`: `call([…], […], {text: […]})`,
		"x = `a ${call('b', `c}`) + '}'} d` + y":    `x = […] + y`,
		"a = b / c; d('e')":                         `a = b / c; d([…])`,
		"a = b / c; d('e') / f":                     `a = b / c; d([…]) / f`,
		`s.replace(/'/g, x); d('e')`:                `s.replace([…]g, x); d([…])`,
		`return /["'/]'/.test(x) && d('e')`:         `return […].test(x) && d([…])`,
		"a // secret\nb /* secret */ c":             "a […]\nb […] c",
		"d('e\nf('g')":                              "d([…]\nf([…])",
		`d('it\'s', "\\")`:                          `d([…], […])`,
		"d(`never ends ${'a'":                       "d([…]",
		`if (a) /'/.test(b); d('e')`:                `if (a) […]`,
		"":                                          "",
	} {
		got, _ := elide(script)
		assert.Check(t, is.Equal(got, want), script)
	}
	_, literals := elide(`d('one', "two")`)
	assert.Check(t, is.Equal(fmt.Sprint(literals), "[one two]"), literals)
}

// TestElideLeavesNoLiteral: no literal of a valid script stays, wherever it is.
func TestElideLeavesNoLiteral(t *testing.T) {
	const secret = "HUSH"
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		var expression func(depth int) string
		literal := func(depth int) string {
			n++
			rest := rapid.StringOfN(rapid.RuneFrom([]rune("ab /*'\"`$&{}[]é")), 0, 6, -1).Draw(t, "rest")
			escape := func(quotes string) string {
				return strings.NewReplacer(strings.Split(quotes, " ")...).Replace(rest)
			}
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				return `'` + escape(`' \'`) + secret + `'`
			case 1:
				return `"` + secret + escape(`" \"`) + `"`
			case 2:
				if depth > 0 {
					return "`" + escape("` \\` $ \\$") + "${" + expression(depth-1) + "}" + secret + "`"
				}
				return "`" + secret + escape("` \\` $ \\$") + "`"
			}
			return `/` + strings.NewReplacer("/", `\/`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, "*", `\*`).Replace(rest) + secret + `/g`
		}
		expression = func(depth int) string {
			if depth == 0 {
				return rapid.SampledFrom([]string{"x", "7", "(y)", "a[0]", literal(0)}).Draw(t, "leaf")
			}
			switch rapid.IntRange(0, 6).Draw(t, "form") {
			case 0:
				return expression(depth-1) + " / " + expression(depth-1)
			case 1:
				return "call(" + literal(depth-1) + ", " + expression(depth-1) + ")"
			case 2:
				return "{p: " + expression(depth-1) + "}"
			case 3:
				return "[" + expression(depth-1) + "," + literal(depth-1) + "]"
			case 4:
				return literal(depth-1) + ".length / " + expression(depth-1)
			case 5:
				return "typeof " + literal(depth-1) + " // " + secret + "\n + " + expression(depth-1)
			}
			return "(" + expression(depth-1) + " /* " + secret + " */ + " + literal(depth-1) + ")"
		}
		var lines []string
		for range rapid.IntRange(1, 4).Draw(t, "lines") {
			lines = append(lines, rapid.SampledFrom([]string{"x = ", "return ", "if (x) ", "", "y = z / "}).Draw(t, "begin")+expression(rapid.IntRange(0, 3).Draw(t, "depth"))+rapid.SampledFrom([]string{";\n", "; "}).Draw(t, "end"))
		}
		script := strings.Join(lines, "")
		got, _ := elide(script)
		assert.Check(t, !strings.Contains(got, secret), "%s\nbecame %s", script, got)
	})
}

// FuzzElide: any text is elided, in linear time and without the bytes of its strings growing.
func FuzzElide(f *testing.F) {
	f.Add("a('b') / `c${d}` /e/")
	f.Fuzz(func(t *testing.T, script string) {
		code, _ := elide(script)
		assert.Check(t, strings.Count(code, "(") <= strings.Count(script, "("), "%q became %q", script, code)
	})
}
