package comwindow

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// Few is the fault of a program that has only two fruits: Wine takes long to read another process.
const Few = "few"

// A Program is the state of the process.
type Program struct {
	Fixture *fakedesktop.Fixture
	Backend desktop.Backend
	Window  uintptr
	Fault   string       // the way in which the provider is bad; "" if it is good
	Live    atomic.Int64 // objects that clients have references to
	Secrets atomic.Int64 // reads of the content of a password field

	// Modal keeps presses from returning until it is closed, as programs with a modal dialog do; it may be nil.
	Modal chan struct{}

	gate sync.Mutex // locked while the program hangs
}

// New returns a program without a window, in the process of the test.
func New(title, fault string) *Program {
	d := fakedesktop.New()
	p := &Program{Fixture: d.Fixture(title), Backend: d.Backend(), Fault: fault}
	if fault == Few {
		p.Fixture.Fruits.Rerender("Fruit 1", "Fruit 40")
	}
	return p
}

// Hang makes the program answer nothing until Continue.
func (p *Program) Hang() { p.gate.Lock() }

// Continue ends Hang.
func (p *Program) Continue() { p.gate.Unlock() }

// Wait waits while the program hangs. Every answer to a client begins with it.
func (p *Program) Wait() {
	p.gate.Lock()
	p.gate.Unlock() //nolint:staticcheck // nothing needs protection
}

// Elements returns the controls with the main window first and only. A dialog is its last child.
func (p *Program) Elements() []desktop.Element {
	shot, err := p.Backend.Tree.Snapshot(context.Background(), p.Fixture.App())
	if err != nil {
		return nil
	}
	for i := range shot.Elements[1:] {
		if e := &shot.Elements[i+1]; e.Parent < 0 {
			e.Parent = 0
		}
	}
	return shot.Elements
}

// Read returns a control with its whole value, or false if it is gone.
func (p *Program) Read(id desktop.ID) (desktop.Element, bool) {
	e, err := p.Backend.Tree.Read(context.Background(), p.Fixture.App(), id)
	return e, err == nil
}

// Execute executes an act and reports its success.
func (p *Program) Execute(id desktop.ID, act desktop.Act) bool {
	err := p.Backend.Actor.Execute(context.Background(), p.Fixture.App(), id, act)
	if act.Verb == desktop.Press && p.Modal != nil {
		<-p.Modal
	}
	return err == nil
}

// An Answer answers WM_GETOBJECT. It returns false for an object that it does not have.
type Answer func(p *Program, wParam, lParam uintptr) (uintptr, bool)

const (
	messageGetObject = 0x003D
	visibleWindow    = 0x10CF0000 // WS_OVERLAPPEDWINDOW and WS_VISIBLE
)

// Serve is the process of Start: it shows the window with a title, and obeys commands from the standard input until its end. It does not return.
func Serve(title, fault string, makeAnswer func(p *Program) Answer) {
	p, err := Open(title, fault, makeAnswer)
	if err != nil {
		fmt.Println(err)
		end(1)
	}
	fmt.Println(p.Window)
	p.obey()
}

// Open shows the window with a title in this process, until its end.
func Open(title, fault string, makeAnswer func(p *Program) Answer) (*Program, error) {
	p := New(title, fault)
	answer := makeAnswer(p)
	opened := make(chan error)
	go func() {
		runtime.LockOSThread()
		_ = windows.CoInitializeEx(0, windows.COINIT_MULTITHREADED)
		user := windows.NewLazySystemDLL("user32.dll")
		otherwise := user.NewProc("DefWindowProcW")
		err := p.open(title, syscall.NewCallback(func(window, message, wParam, lParam uintptr) uintptr {
			p.Wait()
			if message == messageGetObject {
				if result, ok := answer(p, wParam, lParam); ok {
					return result
				}
			}
			result, _, _ := otherwise.Call(window, message, wParam, lParam)
			return result
		}))
		opened <- err
		var message [64]byte // a MSG has 48
		for {
			if more, _, _ := user.NewProc("GetMessageW").Call(uintptr(unsafe.Pointer(&message[0])), 0, 0, 0); int32(more) <= 0 {
				return
			}
			_, _, _ = user.NewProc("DispatchMessageW").Call(uintptr(unsafe.Pointer(&message[0])))
		}
	}()
	return p, <-opened
}

// end ends the process: an ordinary exit may hang in Wine while threads of COM run.
func end(status uint32) { _ = windows.TerminateProcess(windows.CurrentProcess(), status) }

type windowClass struct {
	size, style                        uint32
	procedure                          uintptr
	extraClass, extraWindow            int32
	instance, icon, cursor, background uintptr
	menu, name                         *uint16
	smallIcon                          uintptr
}

// open opens the window where the fixture says.
func (p *Program) open(title string, procedure uintptr) error {
	user := windows.NewLazySystemDLL("user32.dll")
	class := windowClass{procedure: procedure, background: 6, name: windows.StringToUTF16Ptr("AaiTest " + title)}
	class.size = uint32(unsafe.Sizeof(class))
	if atom, _, err := user.NewProc("RegisterClassExW").Call(uintptr(unsafe.Pointer(&class))); atom == 0 {
		return err
	}
	f := p.Fixture.Main.Frame()
	window, _, err := user.NewProc("CreateWindowExW").Call(0, uintptr(unsafe.Pointer(class.name)), uintptr(unsafe.Pointer(windows.StringToUTF16Ptr(title))), visibleWindow,
		uintptr(f.X), uintptr(f.Y), uintptr(f.W), uintptr(f.H), 0, 0, 0, 0)
	if window == 0 {
		return err
	}
	p.Window = window
	return nil
}

// obey answers each command with a line of JSON.
func (p *Program) obey() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var answer any = true
		switch strings.TrimSpace(lines.Text()) {
		case "state":
			answer = p.Fixture.State()
		case "live":
			answer = p.Live.Load()
		case "secrets":
			answer = p.Secrets.Load()
		case "hang":
			p.gate.Lock()
		case "continue":
			p.gate.Unlock()
		default:
			end(0)
		}
		text, _ := json.Marshal(answer)
		fmt.Println(string(text))
	}
	end(0)
}
