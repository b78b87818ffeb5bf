package dialog

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// Limits of a task dialog on a small screen.
const (
	taskMaxButtons = 6
	taskMaxBytes   = 4000
)

// Values of commctrl.h.
const (
	tdfAllowCancel   = 0x0008
	tdfSizeToContent = 0x01000000
	tdWarningIcon    = 0xFFFF
	tdmClickButton   = 0x0400 + 102
	firstButton      = 100 // the number of the first button; those of the system are lower
)

// taskDialogs returns the function that shows task dialogs.
func taskDialogs() *windows.LazyProc {
	return windows.NewLazySystemDLL("comctl32.dll").NewProc("TaskDialogIndirect")
}

// hasTaskDialogs reports whether the program's manifest asks for version 6 of the library that shows task dialogs. Version 5 lacks
// them on Windows, while Wine's shows them without a manifest too.
func hasTaskDialogs() bool {
	const dllRedirection = 2
	name, err := windows.UTF16PtrFromString("comctl32.dll")
	if err != nil {
		return false
	}
	var found [16]uint64                    // ACTCTX_SECTION_KEYED_DATA
	found[0] = uint64(unsafe.Sizeof(found)) // the size is the lower half
	//nolint:gosec // the system reads the name, and fills in the data
	ok, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("FindActCtxSectionStringW").Call(0, 0, dllRedirection,
		uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&found)))
	return ok != 0 && taskDialogs().Find() == nil
}

// taskDialog shows the page with its own buttons. The first, which refuses, is the default; Escape and a closed window mean the same.
func taskDialog(ctx context.Context, p page, process func(int)) (int, error) {
	return modal{
		run:    func() (int, error) { return runTaskDialog(p) },
		refuse: func(w win32.Window) { post(w, tdmClickButton, firstButton) },
	}.show(ctx, process)
}

func runTaskDialog(p page) (int, error) {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	config, err := taskConfig(p, func(text string) (uint64, error) {
		text16, err := windows.UTF16PtrFromString(text)
		if err != nil {
			return 0, err
		}
		pinned.Pin(text16)
		return uint64(uintptr(unsafe.Pointer(text16))), nil //nolint:gosec // the system reads the pinned text
	}, func(data []byte) uint64 {
		pinned.Pin(&data[0])
		return uint64(uintptr(unsafe.Pointer(&data[0]))) //nolint:gosec // the system reads the pinned bytes
	})
	if err != nil {
		return 0, err
	}
	var button int32
	//nolint:gosec // the system reads the configuration, and fills in the button
	result, _, _ := taskDialogs().Call(uintptr(unsafe.Pointer(&config[0])), uintptr(unsafe.Pointer(&button)), 0, 0)
	if result != 0 {
		return 0, fmt.Errorf("TaskDialogIndirect failed with 0x%08X", uint32(result))
	}
	if i := int(button) - firstButton; 0 <= i && i < len(p.buttons) {
		return i, nil
	}
	return 0, nil // Escape, or a closed window
}

// taskConfig returns a TASKDIALOGCONFIG, whose fields have no padding between them. text and data return the addresses of texts and of
// bytes for the system.
func taskConfig(p page, text func(string) (uint64, error), data func([]byte) uint64) ([]byte, error) {
	heading, content, _ := strings.Cut(p.text, "\n")
	var addresses [3]uint64
	for i, s := range []string{p.title, strings.TrimRight(heading, blank+" "), content} {
		var err error
		if addresses[i], err = text(s); err != nil {
			return nil, err
		}
	}
	var buttons []byte // TASKDIALOG_BUTTONs
	for i, label := range p.buttons {
		address, err := text(strings.ReplaceAll(label, "&", "&&"))
		if err != nil {
			return nil, err
		}
		buttons = binary.LittleEndian.AppendUint32(buttons, uint32(firstButton+i))
		buttons = binary.LittleEndian.AppendUint64(buttons, address)
	}
	var c []byte
	number := func(n uint32) { c = binary.LittleEndian.AppendUint32(c, n) }
	address := func(a uint64) { c = binary.LittleEndian.AppendUint64(c, a) }
	const size = 160
	number(size)
	address(0) // parent window
	address(0) // module of resources
	number(tdfAllowCancel | tdfSizeToContent)
	number(0) // no buttons of the system
	address(addresses[0])
	address(tdWarningIcon)
	address(addresses[1])
	address(addresses[2])
	number(uint32(len(p.buttons)))
	address(data(buttons))
	number(firstButton) // the default
	return append(c, make([]byte, size-len(c))...), nil
}
