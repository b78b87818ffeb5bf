package dialog

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealHiddenInput: each real program returns what the person types, and closing its window is no value.
func TestRealHiddenInput(t *testing.T) {
	s := linuxtest.Start(t)
	in := HiddenInput{Text: "Type the value of the secret.\n" + aai.QuoteMark + "{{secret:a_b}} 100%", Prompt: "Value: "}
	for program := range programs() {
		for keys, want := range map[string]string{"a percent b exclam underscore Return": "a%b!_", "Escape": ""} {
			t.Run(program+" "+want, func(t *testing.T) {
				d := realDialog(t, s, program)
				type answer struct {
					value string
					err   error
				}
				answered := make(chan answer, 1)
				go func() {
					value, err := d.AskHidden(t.Context(), "", in)
					answered <- answer{value, err}
				}()
				for end := time.Now().Add(testPatience); ; time.Sleep(focusPollInterval) {
					if pid := d.scheduler.read().Open; pid != 0 && strings.HasPrefix(s.ActiveWindow(t), d.messages().title) {
						break
					}
					if time.Now().After(end) {
						t.Fatalf("no window has come up, but %q", s.ActiveWindow(t))
					}
				}
				var got answer
				for got == (answer{}) { // keys that come before the field are lost
					press := exec.CommandContext(t.Context(), "xdotool", append([]string{"key", "--delay", "60"}, strings.Fields(keys)...)...)
					press.Env = s.Env
					_ = press.Run()
					select {
					case got = <-answered:
					case <-time.After(2 * time.Second):
					}
				}
				assert.Assert(t, strings.HasSuffix(got.value, want), "%q %q", got.value, want)
				assert.Assert(t, want != "" || got.value == "", "%q %q", got.value, want)
				e, ok := errors.AsType[*aai.Error](got.err)
				assert.Check(t, want != "" || ok && e.Code == aai.PermissionDenied, "a closed window: %v", got.err)
			})
		}
	}
}
