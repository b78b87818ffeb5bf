package script

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"
)

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
