package dialog

import (
	"context"
	"encoding/binary"
	"os"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// bmClick presses a button.
const bmClick = 0x00F5

// textOf returns the text of a window, of any process.
func textOf(t *testing.T, w win32.Window) string {
	t.Helper()
	var text [4096]uint16
	_, _ = w.Send(t.Context(), 0x000D, uintptr(len(text)), uintptr(unsafe.Pointer(&text))) // WM_GETTEXT
	return windows.UTF16ToString(text[:])
}

// pressing waits for a dialog of this process, checks its buttons, waits until it has had the keyboard for long enough, and presses one.
func pressing(t *testing.T, title, button string, want []string) (done chan struct{}) {
	t.Helper()
	done = make(chan struct{})
	go func() {
		defer close(done)
		for t.Context().Err() == nil {
			for _, w := range win32.TopLevel() {
				if pid, _ := w.Process(); int(pid) != os.Getpid() || w.Class() != "#32770" || !w.IsVisible() || textOf(t, w) != title {
					continue
				}
				var labels []string
				var found win32.Window
				for _, c := range w.Descendants() {
					if text := textOf(t, c); c.Class() == "Button" && text != "" {
						labels = append(labels, text)
						if text == button {
							found = c
						}
					}
				}
				if found == 0 {
					continue
				}
				assert.Check(t, is.DeepEqual(labels, want))
				post(found, bmClick, 0)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return done
}

// TestTaskDialog checks that a task dialog has the labels of the question, and returns the button that is pressed.
func TestTaskDialog(t *testing.T) {
	p := page{title: "AAI Gateway", text: "AAI Gateway asks for your consent\nAllow A & B to use größe?\n\nEffect: may delete",
		buttons: []string{"Deny", "Allow once", "Allow A & B", "Always allow", "Never"}}
	shown := []string{"Deny", "Allow once", "Allow A && B", "Always allow", "Never"}
	for want, label := range shown {
		done := pressing(t, p.title, label, shown)
		got, err := taskDialog(t.Context(), p, func(pid int) { assert.Check(t, is.Equal(pid, os.Getpid())) })
		assert.NilError(t, err)
		assert.Check(t, is.Equal(got, want))
		<-done
	}
}

// TestDialogsEndWithTheContext checks that the gateway closes its windows when nobody answers.
func TestDialogsEndWithTheContext(t *testing.T) {
	for name, show := range map[string]func(context.Context, page, func(int)) (int, error){"task dialog": taskDialog, "message box": messageBox} {
		for _, buttons := range [][]string{{"Deny", "Allow"}, {"Deny", "Allow", "Always"}} {
			t.Run(name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				_, err := show(ctx, page{title: "Ends", text: "Heading\nText", buttons: buttons}, func(int) {})
				assert.Check(t, is.ErrorIs(err, context.DeadlineExceeded))
				for _, w := range win32.TopLevel() {
					pid, _ := w.Process()
					assert.Check(t, int(pid) != os.Getpid() || !w.IsVisible() || textOf(t, w) != "Ends")
				}
			})
		}
	}
}

// TestMessageBox checks the meaning of the system's buttons.
func TestMessageBox(t *testing.T) {
	for want, label := range []string{"Cancel", "&Yes", "&No"} {
		done := pressing(t, "Box", label, []string{"&Yes", "&No", "Cancel"})
		got, err := messageBox(t.Context(), page{title: "Box", text: "Heading\nText", buttons: []string{"Deny", "Allow", "Always"}}, func(int) {})
		assert.NilError(t, err)
		assert.Check(t, is.Equal(got, want))
		<-done
	}
}

// TestAsksByADialogThatHadTheKeyboard asks a whole question: an answer counts if the window had the keyboard for long enough.
func TestAsksByADialogThatHadTheKeyboard(t *testing.T) {
	d := New(Config{Getenv: os.Getenv, Folder: t.TempDir(), FocusedPID: FocusedPID})
	d.findPresenters = func() []presenter {
		return []presenter{{name: "task dialog", maxButtons: taskMaxButtons, maxBytes: taskMaxBytes, show: func(ctx context.Context, p page, process func(int)) (int, error) {
			return taskDialog(ctx, p, func(pid int) {
				process(pid)
				assert.Check(t, d.IsShowing(os.Getpid()))
				go func() {
					for pid, _ := FocusedPID(ctx); pid != os.Getpid() && ctx.Err() == nil; pid, _ = FocusedPID(ctx) {
						time.Sleep(10 * time.Millisecond)
					}
					time.Sleep(2 * readable) // the time that a person needs
					pressing(t, p.title, "Allow once", []string{"Deny", "Allow once", "Allow in this session", "Always allow", "Always allow all", "Never allow"})
				}()
			})
		}}}
	}
	got, err := d.Ask(t.Context(), consent())
	assert.NilError(t, err)
	assert.Check(t, is.Equal(got.Choice, "once"))
	assert.Check(t, !d.IsShowing(os.Getpid()))
}

// TestTaskConfig checks the offsets of the structure, which has no padding.
func TestTaskConfig(t *testing.T) {
	var buttons []byte
	texts := map[string]uint64{}
	c, err := taskConfig(page{title: "T", text: "H  \u00a0\nC", buttons: []string{"a&b", "c"}}, func(text string) (uint64, error) {
		texts[text] = uint64(len(texts) + 1)
		return texts[text], nil
	}, func(data []byte) uint64 { buttons = data; return 77 })
	assert.NilError(t, err)
	assert.Check(t, is.Len(c, 160))
	for name, want := range map[int]uint64{28: texts["T"], 44: texts["H"], 52: texts["C"], 64: 77} {
		assert.Check(t, is.Equal(binary.LittleEndian.Uint64(c[name:]), want))
	}
	for name, want := range map[int]uint32{0: 160, 60: 2, 72: firstButton} {
		assert.Check(t, is.Equal(binary.LittleEndian.Uint32(c[name:]), want))
	}
	assert.Check(t, is.Len(buttons, 24))
	assert.Check(t, is.Equal(binary.LittleEndian.Uint64(buttons[4:]), texts["a&&b"]))
}
