package aai_test

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestCodeStyleFindsFaults builds small modules that break one rule each.
func TestCodeStyleFindsFaults(t *testing.T) {
	const doc = "// Package mail sends.\npackage mail\n"
	methods := func(n int) string { return "interface{ " + strings.Repeat("A();", n) + " }\n" }
	for _, c := range []struct{ name, path, text, want string }{
		{"fine", "mail/mail.go", doc + "import \"errors\"\nvar errA = errors.New(\"a\")\nfunc f() {}\ntype i " + methods(5), ""},
		{"no doc", "mail/mail.go", "package mail\n", "mail: the package has no doc comment"},
		{"doc in a test only", "mail/a_test.go", "package mail\n", ""},
		{"long file", "mail/mail.go", doc + strings.Repeat("\n", maxFileLines-1), "the file has 401 lines; at most 400"},
		{"just so long", "mail/mail.go", doc + strings.Repeat("\n", maxFileLines-2), ""},
		{"long test", "mail/a_test.go", "package mail\n" + strings.Repeat("\n", maxFileLines), "the file has 401 lines; at most 400"},
		{"long function", "mail/mail.go", doc + "func f() {\n" + strings.Repeat("\n", 61) + "}\n", "f has 61 lines; at most 60"},
		{"just so long function", "mail/mail.go", doc + "func f() {\n" + strings.Repeat("\n", 60) + "}\n", ""},
		{"long method", "mail/mail.go", doc + "type x int\nfunc (x) f() {\n" + strings.Repeat("\n", 61) + "}\n", "f has 61 lines; at most 60"},
		{"wide interface", "mail/mail.go", doc + "type i " + methods(6), "an interface of 6 methods; at most 5"},
		{"wide nameless interface", "mail/mail.go", doc + "func f(" + strings.TrimSpace(methods(6)) + ") {}\n", "an interface of 6 methods; at most 5"},
		{"init", "mail/mail.go", doc + "func init() {}\n", "an init function"},
		{"init of a test", "mail/a_test.go", "package mail\nfunc init() {}\n", "an init function"},
		{"method named init", "mail/mail.go", doc + "type x int\nfunc (x) init() {}\n", ""},
		{"variable", "mail/mail.go", doc + "var count int\n", "the variable count may change"},
		{"map", "mail/mail.go", doc + "var m = map[string]int{}\n", "the variable m may change"},
		{"second of two", "mail/mail.go", doc + "var errA, n = errors.New(\"a\"), 1\n", "the variable n may change"},
		{"in a group", "mail/mail.go", doc + "var (\n\terrA = errors.New(\"a\")\n\tn int\n)\n", "the variable n may change"},
		{"work at start", "mail/mail.go", doc + "var _ = register()\n", "the variable _ may change"},
		{"assertion", "mail/mail.go", doc + "var _ error = (*x)(nil)\n", ""},
		{"embedded", "mail/mail.go", doc + "import \"embed\"\nvar files embed.FS\n", ""},
		{"expression", "mail/mail.go", doc + "var r = regexp.MustCompile(`a`)\n", ""},
		{"version of a room", "mail/mail.go", doc + "var version = \"1\"\n", "the variable version may change"},
		{"version of the program", "cmd/x/main.go", "// Command x.\npackage main\nvar version = \"1\"\n", ""},
		{"in a test", "mail/a_test.go", "package mail\nvar update = true\n", ""},
		{"what", "mail/mail.go", doc + "// f does what it is told what to do, and what not.\nfunc f() {}\n", "mail: 3 times \"what\" in"},
		{"who", "mail/mail.go", doc + "// f tells whoever asks who sent it, and whose it is.\nfunc f() {}\n", "mail: 3 times \"who\", \"whom\""},
		{"what twice", "mail/mail.go", doc + "// f does what it is told, and what not.\nfunc f() {}\n", ""},
		{"nameless package", "mail/mail.go", "// Package utils is.\npackage utils\n", "a name that says nothing"},
		{"nameless folder", "internal/helpers/mail.go", doc, "a name that says nothing"},
		{"in the doors", "internal/doors/a.go", "// Package doors is.\npackage doors\n", "holds rooms, and no Go files of its own"},
		{"in the drivers", "internal/drivers/a_test.go", "package drivers\n", "holds rooms, and no Go files of its own"},
		{"not Go", "mail/mail.go", "// Package mail.\npackage mail\nfunc {\n", "expected"},
		{"agents", "AGENTS.md", strings.Repeat("x\n", 61), "AGENTS.md has 61 lines; at most 60"},
		{"makefile", "Makefile", strings.Repeat("x\n", 40) + "x", "Makefile has 41 lines; at most 40"},
		{"makefile fits", "Makefile", strings.Repeat("x\n", 40), ""},
		{"data of tests", "mail/testdata/utils/a.go", "package utils\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := inspect(fstest.MapFS{c.path: {Data: []byte(c.text)}})
			switch {
			case c.want == "" && len(found) > 0:
				t.Errorf("found %q", found)
			case c.want != "" && (len(found) != 1 || !strings.Contains(found[0], c.want)):
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
}
