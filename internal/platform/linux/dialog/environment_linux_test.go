package dialog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// locales returns values of LANG under which a question must be shown: without a language,
// not installed, and installed on some computers.
func locales() []string {
	return []string{"C", "POSIX", "xx_YY.UTF-8", "zh_CN.UTF-8", "tr_TR.UTF-8"}
}

// TestRealDialogsInEveryLocale checks that a question with characters beyond ASCII is
// shown and answered in any locale.
func TestRealDialogsInEveryLocale(t *testing.T) {
	for program, keys := range programs() {
		t.Run(program, func(t *testing.T) {
			s := linuxtest.Start(t)
			for _, locale := range locales() {
				s.Env = append(s.Env, "LANG="+locale)
				untilAnswered(t, s, program, "once", func(a openDialog) {
					a.keep(program + "-" + locale)
					a.press(keys["first"]...)
				})
				untilAnswered(t, s, program, "deny", func(a openDialog) { a.press("Escape") })
			}
		})
	}
}

// TestLocaleOfAProgram checks that a dialog's program gets an installed locale of UTF-8,
// and the person's language.
func TestLocaleOfAProgram(t *testing.T) {
	for _, c := range []struct{ person, locale, language string }{
		{"", "C.UTF-8", ""}, {"LANG=C", "C.UTF-8", ""}, {"LANG=POSIX", "C.UTF-8", ""}, {"LANG=C.UTF-8", "C.UTF-8", ""},
		{"LANG=xx_YY.UTF-8", "C.UTF-8", "xx_YY"}, {"LANG=xx_YY@euro LANGUAGE=de:en", "C.UTF-8", "de:en"},
		{"LANG=C.UTF-8 LC_ALL=C", "C.UTF-8", ""}, {"LANG=C LC_MESSAGES=xx_YY", "C.UTF-8", "xx_YY"},
		{"LANG=C LC_CTYPE=xx_YY", "C.UTF-8", ""},
	} {
		env := localeVariables(func(name string) string {
			for _, v := range strings.Fields(c.person) {
				if value, is := strings.CutPrefix(v, name+"="); is {
					return value
				}
			}
			return ""
		})
		want := []string{"LC_ALL=" + c.locale, "LANGUAGE=" + c.language}
		assert.Check(t, slices.Equal(env, want), "%q %q %q", c.person, env, want)
	}
}

// TestAProgramOfThePathAsksNobody checks that no program from the PATH is used.
func TestAProgramOfThePathAsksNobody(t *testing.T) {
	planted := t.TempDir()
	for _, program := range []string{"pinentry-qt", "pinentry-qt5", "pinentry-gtk-2", "pinentry-gtk", "pinentry", "kdialog", "zenity"} {
		assert.NilError(t, os.WriteFile(filepath.Join(planted, program), []byte("#!/bin/sh\n"), 0o700))
	}
	for _, way := range presenters(func(name string) string {
		return map[string]string{"PATH": planted + ":/usr/bin", "DISPLAY": ":4711"}[name]
	}) {
		assert.Check(t, filepath.Dir(way.name) != planted, "%s would ask", way.name)
	}
}

// TestAScaleThatHidesIsNotTaken checks that an unreadable scale is ignored.
func TestAScaleThatHidesIsNotTaken(t *testing.T) {
	for scale, taken := range map[string]bool{"0.01": false, "1e9": false, "-1": false, "NaN": false, "Inf": false, "2x": false, "0.5": true, "1.25": true, "3": true} {
		env := environment(func(string) string { return scale })
		for _, name := range []string{"GDK_SCALE", "GDK_DPI_SCALE", "QT_SCALE_FACTOR"} {
			assert.Check(t, is.Equal(slices.Contains(env, name+"="+scale), taken), "%s=%s: it is taken: %v", name, scale, !taken)
		}
	}
}

// TestValuesAreNotInArguments checks that no value of a call, and no third party's label, is in the
// arguments or the title of a program while it shows the question.
func TestValuesAreNotInArguments(t *testing.T) {
	const canary = "cAnArY-hunter2"
	for program := range programs() {
		t.Run(program, func(t *testing.T) {
			s := linuxtest.Start(t)
			q := ofKind(t, kind{request: func() *aai.Request {
				return using(notes(), "add", map[string]any{"text": "say " + canary, "to": []any{canary, `"` + canary + `"`}})
			}}, "en")
			q.Choices = append(q.Choices, aai.Choice{ID: "other", Label: canary, IsForeign: true})
			a := put(t, s, program, q)
			a.seen()
			a.keep("values-" + program)
			files, err := filepath.Glob("/proc/[0-9]*/cmdline")
			assert.NilError(t, err)
			asks := false
			for _, file := range files {
				text, _ := os.ReadFile(file) // a process may have ended
				asks = asks || strings.Contains(string(text), program)
				assert.Check(t, !strings.Contains(string(text), canary), "%s %q", file, text)
			}
			assert.Check(t, asks, "no process of the program was found")
			a.press("Escape")
			a.expect("deny")
		})
	}
}
