package descriptors_test

import (
	"os"
	"path/filepath"
	"strings"
)

func checkCalculator(w *world) {
	c := w.app("org.gnome.Calculator")
	for _, example := range []struct{ expression, answer, other string }{
		{"2+2", "4", `^4$`},
		{"(1+2)*3/4", "2.25", `^2\.25$`},
		{"sqrt(2)", "1.414213562", `^1\.414213562`},
		{"5!", "120", `^120$`},
	} {
		x := example.expression
		c.gives("calculate", `{"results": ["`+x+`"]}`, `[{"id": "`+x+`", "name": "`+x+`", "description": " = `+example.answer+`"}]`)
		w.shows(example.other, "gnome-calculator", "--solve", x)
	}
	c.gives("calculate", `{"results": ["hello"]}`, `[]`)

	c.gives("is_expression", `{"terms": ["2+2"]}`, `["2+2", "copy-to-clipboard-2+2"]`)
	c.gives("is_expression", `{"terms": ["2", "+", "2"]}`, `["2 + 2", "copy-to-clipboard-2 + 2"]`)
	c.gives("is_expression", `{"terms": ["hello"]}`, `[]`)

	c.callsVoid("open_with_expression", `{"result_id": "6*7", "terms": ["6*7"]}`)
	w.windows(`^Calculator$`, "gnome-calculator")
	w.eventually(func() error { return match(`--equation 6\*7$`, w.commandOf("gnome-calculator"), "the process") })
}

// commandOf returns the command of the process with the first visible window of a class.
func (s *session) commandOf(class string) string {
	window, _, _ := strings.Cut(s.output("xdotool", "search", "--onlyvisible", "--class", class), "\n")
	text, err := os.ReadFile(filepath.Join("/proc", s.output("xdotool", "getwindowpid", window), "cmdline"))
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(strings.Trim(string(text), "\x00"), "\x00", " ")
}
