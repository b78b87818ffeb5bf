package osascript

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

func TestCompileAppleScript(t *testing.T) {
	for script, want := range map[string]string{
		`beep`:                           `beep`,
		`say "${a}"`:                     `say |aai 1|`,
		`say "Hi ${a}!" & ${a} & "${a}"`: `say ("Hi " & |aai 1| & "!") & |aai 2| & |aai 1|`,
		"use scripting additions\n-- ${a}\nbeep ${a}":               "use scripting additions\n-- ${a}\nbeep |aai 1|",
		`(* "${a}" (* *) *) set x to {n:${a}, |n m|:"\"${b}"}`:      `(* "${a}" (* *) *) set x to {n:|aai 1|, |n m|:("\"" & |aai 2|)}`,
		`do shell script "ls " & quoted form of "${a}"`:             `do shell script "ls " & quoted form of |aai 1|`,
		`make new note with properties {body:"${a}"} -- it's "open`: `make new note with properties {body:|aai 1|} -- it's "open`,
		`if ${a} then beep (${b})`:                                  `if |aai 1| then beep (|aai 2|)`,
	} {
		got, err := compileAppleScript(script)
		assert.Check(t, err, script)
		if err == nil {
			assert.Check(t, is.Equal(got.code, want))
			assert.Check(t, is.Equal(got.code[:got.head], map[bool]string{true: "use scripting additions\n"}[strings.HasPrefix(script, "use")]))
		}
	}
}

func TestRefusedPlaceholders(t *testing.T) {
	for script, want := range map[string]string{
		`tell application "${a}" to quit`:              "line 1: ${a} cannot stand there: the app of a script is constant",
		"beep\ntell app id \"com.${a}\" to quit":       "line 2: ${a} cannot stand there: the app of a script is constant",
		`tell application ${a} to quit`:                "the app of a script is constant",
		`set ${a} to 1`:                                `a value cannot stand after "set"`,
		`set x to {${a}:1}`:                            "a name in a record",
		`set x to y${a}`:                               "it touches a word",
		`set x to ${a}${b}`:                            "it touches a word",
		`set x to |${a}|`:                              "a value cannot stand in |",
		`tell me to «event ${a}»`:                      "a value cannot stand in «",
		`say "\${a}"`:                                  "follows a backslash",
		`say "open ${a}`:                               "no closing",
		`(* ${a}`:                                      "a comment has no end",
		`do shell script "ls ${a}"`:                    `write "quoted form of" directly before it`,
		`set c to "ls ${a}"` + "\ndo shell script c":   `write "quoted form of" directly before it`,
		`run script "${a}"`:                            "the script runs code by run script",
		`tell app "Safari" to do JavaScript "x(${a})"`: "the script runs code by JavaScript",
		`repeat with ${a} in {}`:                       `after "with"`,
	} {
		_, err := compileAppleScript(script)
		assert.Check(t, is.ErrorContains(err, want), script)
	}
	for script, want := range map[string]string{
		`x = {${a}: 1}`:                         "a name in an object",
		`x = {"${a}": 1}`:                       "a name in an object",
		`x = {b: 1, 'c${a}' : 1}`:               "a name in an object",
		`x.${a}`:                                `after "."`,
		`let ${a} = 1`:                          `after "let"`,
		`y${a}`:                                 "it touches a word",
		`/${a}/.test("x")`:                      "a regular expression",
		`"\${a}"`:                               "follows a backslash",
		`"open ${a}`:                            "no closing",
		`/* ${a}`:                               "a comment has no end",
		`app.doShellScript("ls ${a}")`:          "expected it alone",
		"1\n\neval(`f(${a})`)":                  "line 3: ${a} cannot stand there",
		`ObjC.import("x"); $.system("rm ${a}")`: "expected it alone",
	} {
		_, err := compileJXA(script)
		assert.Check(t, is.ErrorContains(err, want), script)
	}
}

func TestCompileJXA(t *testing.T) {
	for script, want := range map[string]string{
		`f('a ${x} b' + "${x}", ${x})`:           `f(('a ' + aaiValues[0] + ' b') + (aaiValues[0]), aaiValues[1])`,
		"f(`a ${x} \\` b`)":                      "f(`a ${aaiValues[0]} \\` b`)",
		"c ? '${x}' : 1 // ${x}":                 "c ? (aaiValues[0]) : 1 // ${x}",
		"a / b; s.replace(/['\"/]/g, '${x}') /2": "a / b; s.replace(/['\"/]/g, (aaiValues[0])) /2",
		`app.doShellScript(q('${x}'))`:           `app.doShellScript(q((aaiValues[0])))`,
	} {
		got, err := compileJXA(script)
		assert.Check(t, err, script)
		if err == nil {
			assert.Check(t, is.Equal(got.code, want))
		}
	}
}

// TestMissingValue checks that a missing value is "missing value" alone and an error in a text, where it would select everything.
func TestMissingValue(t *testing.T) {
	compiled, err := compileAppleScript(`set x to ${a}`)
	assert.NilError(t, err)
	values, err := compiled.values(nil)
	assert.NilError(t, err)
	text, err := compiled.appleScript(values)
	assert.NilError(t, err)
	assert.Equal(t, text, "property |aai 1| : missing value\nset x to |aai 1|")
	compiled, err = compileAppleScript(`delete (messages whose subject contains "${a}")`)
	assert.NilError(t, err)
	_, err = compiled.values(nil)
	assert.Check(t, is.ErrorContains(err, "INVALID_PARAMS: a: expected a value"))
}

func TestLiterals(t *testing.T) {
	for value, want := range map[any]string{
		"a\"b\\c\t\r\n": `"a\"b\\c\t\r\n"`, "¬\x01": `("" & (character id 172) & "" & (character id 1) & "")`, "漢 😀": `"漢 😀"`,
		json.Number("1.50"): "(15 / (10 ^ 1))", json.Number("-3"): "-3", json.Number("5.0"): "5", json.Number("1e3"): "(1 * (10 ^ 3))", 2.5: "(25 / (10 ^ 1))",
		true: "true",
	} {
		got, err := literal(value, 0)
		assert.Check(t, err)
		assert.Check(t, is.Equal(got, want))
	}
	for _, bad := range []any{"\x00", "\xff", json.Number("1e999"), json.Number("99999999999999999999"), map[string]any{"a|b": 1}, strings.Repeat("\x01", 1001)} {
		_, err := literal(bad, 0)
		assert.Check(t, is.ErrorContains(err, "INVALID_PARAMS"), "%v", bad)
	}
}

// value draws a JSON value.
func value(t *rapid.T, depth int) any {
	switch rapid.IntRange(0, 6-2*min(depth, 1)).Draw(t, "kind") {
	case 0:
		return rapid.StringOf(rapid.RuneFrom([]rune("ab\"\\\n\r\t|«»(*)-#{}¬&${}\u2028\u0001é漢😀"))).Draw(t, "text")
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return float64(rapid.Int64Range(-1<<53, 1<<53).Draw(t, "whole"))
	case 3:
		return float64(rapid.IntRange(-99999, 99999).Draw(t, "digits")) / math.Pow10(rapid.IntRange(0, 9).Draw(t, "scale"))
	case 4:
		return nil
	case 5:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, value(t, depth+1))
		}
		return list
	}
	return map[string]any{rapid.StringMatching(`[a-zA-Z][a-z _.-]{0,5}`).Draw(t, "label"): value(t, depth+1)}
}

// TestValuesStayValues checks with a lexer of its own that the code of a script is the same for all values, and that each property
// is one constant with the value.
func TestValuesStayValues(t *testing.T) {
	compiled, err := compileAppleScript("use scripting additions\ntell application \"Mail\"\n\tset x to {subject:\"Re: ${a}\", n:${b}, t:\"${c}\"}\nend tell")
	assert.NilError(t, err)
	var first []token
	rapid.Check(t, func(t *rapid.T) {
		args := map[string]any{"a": value(t, 0), "b": value(t, 0), "c": value(t, 0)}
		if args["a"] == nil || args["c"] == nil {
			return
		}
		values, err := compiled.values(args)
		assert.NilError(t, err)
		text, err := compiled.appleScript(values)
		assert.NilError(t, err)
		tokens, err := lex(text)
		assert.NilError(t, err, text)
		properties, code := split(tokens)
		if first == nil {
			first = code
		}
		assert.Assert(t, slices.Equal(code, first))
		assert.Assert(t, is.Len(properties, 3))
		for i, property := range properties {
			got, err := evaluate(property)
			assert.NilError(t, err, text)
			assert.DeepEqual(t, got, values[i])
		}
	})
}

// jsValue runs a script for JXA in another engine, and returns the runner's answer.
func jsValue(script string) (string, error) {
	vm := goja.New()
	v, err := vm.RunString(script)
	if err != nil {
		return "", err
	}
	return v.String(), nil
}

// FuzzAppleScript: any template with any value either fails to compile, or has the same code for all values.
func FuzzAppleScript(f *testing.F) {
	f.Add(`tell application "Mail" to make new note with properties {body:"x ${a} y", n:${a}}`, "a\"b\\")
	f.Add("use framework \"x\"\n(* ${a} *) say \"${a}\" -- ${a}\n«event ${a}»", "\" & (do shell script \"id\") & \"")
	f.Add(`say |x|"${a}" # "`, "\n¬\u2028\x01")
	f.Fuzz(func(t *testing.T, script, value string) {
		compiled, err := compileAppleScript(script)
		if err != nil {
			assert.Equal(t, aai.AsError(err).Code, aai.DescriptorInvalid)
			return
		}
		args := map[string]any{}
		for _, s := range compiled.slots {
			args[s.param] = value
		}
		values, err := compiled.values(args)
		assert.NilError(t, err)
		text, err := compiled.appleScript(values)
		if err != nil {
			return // a value without a form
		}
		other, err := compiled.appleScript(make([]any, len(values)))
		assert.NilError(t, err)
		assert.Equal(t, text[:compiled.head], other[:compiled.head])
		assert.Check(t, strings.HasSuffix(text, compiled.code[compiled.head:]))
		head := strings.TrimSuffix(text[compiled.head:], compiled.code[compiled.head:])
		tokens, err := lex(head)
		assert.NilError(t, err, head)
		properties, rest := split(tokens)
		assert.Equal(t, len(properties), len(values))
		for _, left := range rest {
			assert.Equal(t, left.kind, "line")
		}
		for _, property := range properties {
			got, err := evaluate(property)
			assert.NilError(t, err)
			assert.Equal(t, got, value)
		}
	})
}

// FuzzJXA: a value arrives unchanged in another engine, whatever the template is.
func FuzzJXA(f *testing.F) {
	f.Add("'", "a\"b\\\u2028</script>${x}`")
	f.Add("`", "\x00\x7f\\u0041'); evil('")
	f.Add("x", "__proto__")
	f.Fuzz(func(t *testing.T, form, value string) {
		script := map[string]string{"'": "['${a}']", "`": "[`${a}`]", `"`: `["" + "${a}"]`}[form]
		if script == "" {
			script = "[${a}]"
			if compiled, err := compileJXA(form); err == nil { // any template: compiling must not fail in another way
				_, err = compiled.jxa(make([]any, len(compiled.slots)))
				assert.NilError(t, err)
			}
		}
		compiled, err := compileJXA(script)
		assert.NilError(t, err)
		text, err := compiled.jxa([]any{value})
		assert.NilError(t, err)
		for _, c := range []byte(strings.TrimPrefix(text, runner)) {
			assert.Assert(t, c < 0x7F && (c >= ' ' || c == '\n'))
		}
		got, err := jsValue(text)
		assert.NilError(t, err, text)
		var answer struct{ Value []string }
		assert.NilError(t, json.Unmarshal([]byte(got), &answer), got)
		assert.Equal(t, answer.Value[0], string([]rune(value)))
	})
}

// FuzzParse: any output is read without a panic, and a quoted text comes back.
func FuzzParse(f *testing.F) {
	f.Add(`{"a", 1,5, {|odd \| key|:missing value, «class x»:date "x"}, message id 5 of application "Mail"}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := json.Marshal(parse(text))
		assert.NilError(t, err)
		quoted, err := quote(text)
		if err == nil && !strings.HasPrefix(quoted, "(") {
			assert.DeepEqual(t, parse(fmt.Sprintf("{x y:{%s}}", quoted)), map[string]any{"x y": []any{text}})
		}
	})
}
