package dialog

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// boxMaxBytes is the limit for text in a message box on a small screen, in bytes.
const boxMaxBytes = 2000

// wmCommand presses the button of its number.
const wmCommand = 0x0111

// messageBox shows the page. Windows sets the names of its buttons, so the text explains them.
func messageBox(ctx context.Context, p page, process func(int)) (int, error) {
	w := messagesIn("")
	flags, refusal := uint32(windows.MB_YESNOCANCEL|windows.MB_DEFBUTTON3), uintptr(idCancel)
	meaning := []string{w.cancel + ": " + p.buttons[0], w.yes + ": " + p.buttons[1]}
	if len(p.buttons) > 2 {
		meaning = append(meaning, w.no+": "+p.buttons[2])
	} else {
		meaning[0] = w.no + ": " + p.buttons[0]
		flags, refusal = windows.MB_YESNO|windows.MB_DEFBUTTON2, idNo
	}
	text, err := windows.UTF16PtrFromString(p.text + "\n\n" + strings.Join(meaning, "\n"))
	if err != nil {
		return 0, err
	}
	title, err := windows.UTF16PtrFromString(p.title)
	if err != nil {
		return 0, err
	}
	return modal{
		run: func() (int, error) {
			id, err := windows.MessageBox(0, text, title, flags|windows.MB_ICONWARNING|windows.MB_SETFOREGROUND|windows.MB_TOPMOST)
			if id == 0 {
				return 0, err
			}
			return boxButton(id, len(p.buttons))
		},
		refuse: func(w win32.Window) { post(w, wmCommand, refusal) },
	}.show(ctx, process)
}

// The numbers of the buttons of a message box, from winuser.h.
const (
	idCancel = 2
	idYes    = 6
	idNo     = 7
)

// boxButton returns the index of the button for the result of a box.
func boxButton(id int32, buttons int) (int, error) {
	switch {
	case id == idYes:
		return 1, nil
	case id == idNo && buttons > 2:
		return 2, nil
	case id == idNo || id == idCancel:
		return 0, nil
	}
	return 0, fmt.Errorf("the message box returned %d", id)
}
