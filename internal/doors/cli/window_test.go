package cli_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"aai"
	"aai/internal/doors/cli"
)

// A window is a screen where a question is answered, or nobody is.
type window struct {
	answer string
	err    error
	asked  []aai.Question
}

func (w *window) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	w.asked = append(w.asked, q)
	return aai.Answer{Choice: w.answer, Channel: aai.Native}, w.err
}

// TestYesWithoutATerminalIsAskedInAWindow: an agent with a shell can type --yes as
// well as a person, so the screen is asked where there is one.
func TestYesWithoutATerminalIsAskedInAWindow(t *testing.T) {
	grant := []string{"consent", "grant", "org.example.Notes", "text", "--caller", "mcp:agent", "--yes"}
	for name, test := range map[string]struct {
		window   *window
		terminal bool
		asked    int
		done     bool
	}{
		"yes":                      {&window{answer: "yes"}, false, 1, true},
		"no":                       {&window{answer: "no"}, false, 1, false},
		"a closed window":          {&window{}, false, 1, false},
		"nobody answers":           {&window{err: aai.Errorf(aai.ConsentRequired, "nobody answered")}, false, 1, false},
		"no screen":                {&window{err: errors.New("there is no screen")}, false, 1, true},
		"windows are switched off": {nil, false, 0, true},
		"a terminal":               {&window{answer: "no"}, true, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			w := newWorld()
			cfg := w.config(nil, &out, &errOut)
			cfg.Native = func(cli.Flags) (aai.Asker, error) {
				if test.window == nil {
					return nil, nil
				}
				return test.window, nil
			}
			if test.terminal {
				cfg.Terminal.Ask = func(context.Context, string) (string, error) { return "", errors.New("not needed") }
			}
			code := cli.Run(t.Context(), cfg, grant)
			if (code == 0) != test.done || !test.done && code != 4 {
				t.Errorf("exit code %d: %s", code, errOut.String())
			}
			if test.window != nil {
				if len(test.window.asked) != test.asked {
					t.Errorf("asked %d times", len(test.window.asked))
				}
				if test.asked > 0 && !strings.Contains(test.window.asked[0].Title, "org.example.Notes") {
					t.Errorf("asked %+v", test.window.asked[0])
				}
			}
		})
	}
}
