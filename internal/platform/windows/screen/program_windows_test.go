package screen

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest"
)

// programVariable makes the test run as the program with windows. Its value is the title.
const programVariable = "AAI_TEST_WINDOW"

func TestMain(m *testing.M) {
	if title := os.Getenv(programVariable); title != "" {
		runProgram(title)
		return
	}
	flag.String("picture", "", "file for a picture of the screen")
	windowstest.Main(m)
}

// The colours of the program's window and of its child window, as COLORREF.
const (
	windowColour = 0x002040c0 // red 0xc0, green 0x40, blue 0x20
	childColour  = 0x0040c020
)

// runProgram shows a window with a child window, and writes the messages that they receive. A line of its input is answered.
func runProgram(title string) {
	user, gdi := windows.NewLazySystemDLL("user32.dll"), windows.NewLazySystemDLL("gdi32.dll")
	runtime.LockOSThread() // windows belong to the thread that made them
	text := func(s string) *uint16 {
		p, _ := windows.UTF16PtrFromString(s)
		return p
	}
	byDefault := user.NewProc("DefWindowProcW")
	names := map[uintptr]string{}
	procedure := windows.NewCallback(func(w, message, wParam, lParam uintptr) uintptr {
		switch {
		case 0x0200 < message && message <= 0x020E, 0x0100 <= message && message <= 0x0102, message == 0x0006:
			fmt.Printf("%s %#x %#x %#x\n", names[w], message, wParam, lParam)
		case message == 0x0010:
			fmt.Println("closed")
			os.Exit(0)
		}
		result, _, _ := byDefault.Call(w, message, wParam, lParam)
		return result
	})
	make := func(name string, parent, style, colour uintptr, x, y, width, height uintptr) uintptr {
		brush, _, _ := gdi.NewProc("CreateSolidBrush").Call(colour)
		class := struct {
			style                               uint32
			procedure                           uintptr
			extraClass, extraWindow             int32
			instance, icon, cursor, brush, menu uintptr
			name                                *uint16
		}{style: 8, procedure: procedure, brush: brush, name: text("aai.test." + name)}
		_, _, _ = user.NewProc("RegisterClassW").Call(uintptr(unsafe.Pointer(&class)))
		w, _, err := user.NewProc("CreateWindowExW").Call(0, uintptr(unsafe.Pointer(class.name)), uintptr(unsafe.Pointer(text(title))), style, x, y, width, height, parent, 0, 0, 0)
		if w == 0 {
			panic(err)
		}
		names[w] = name
		return w
	}
	const overlapped, child, visible = 0x00CF0000, 0x40000000, 0x10000000
	window := make("window", 0, overlapped|visible, windowColour, 120, 90, 400, 300)
	make("child", window, child|visible, childColour, 50, 60, 100, 80)
	for _, name := range []string{"SetForegroundWindow", "UpdateWindow"} {
		_, _, _ = user.NewProc(name).Call(window)
	}
	fmt.Printf("shown %d\n", window)
	var message [64]byte
	for {
		if got, _, _ := user.NewProc("GetMessageW").Call(uintptr(unsafe.Pointer(&message[0])), 0, 0, 0); int32(got) <= 0 {
			return
		}
		_, _, _ = user.NewProc("TranslateMessage").Call(uintptr(unsafe.Pointer(&message[0])))
		_, _, _ = user.NewProc("DispatchMessageW").Call(uintptr(unsafe.Pointer(&message[0])))
	}
}

// A program is the running program with windows.
type program struct {
	*testing.T
	*Display
	id  desktop.WindowID
	pid int

	mu    sync.Mutex
	lines []string
}

// start starts the program and waits until it shows.
func start(t *testing.T, title string) *program {
	t.Helper()
	folder := t.TempDir()
	lock := inputlock.New(inputlock.Config{Folder: func() (string, error) { return folder, nil }, Getenv: os.Getenv})
	p := &program{T: t, Display: New(Config{InputLock: lock})}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), programVariable+"="+title)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p.pid = cmd.Process.Pid
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.mu.Lock()
			p.lines = append(p.lines, lines.Text())
			p.mu.Unlock()
		}
	}()
	p.await("shown", func() bool {
		_, err := fmt.Sscanf(p.said("shown"), "shown %d", &p.id)
		return err == nil
	})
	p.await("listed", func() bool { return p.info().Title == title })
	return p
}

// said returns the first line of the program that begins with the words.
func (p *program) said(words string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.lines {
		if strings.HasPrefix(line, words) {
			return line
		}
	}
	return ""
}

// forget drops the lines so far.
func (p *program) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = nil
}

// count returns the number of lines that begin with the words.
func (p *program) count(words string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.lines {
		if strings.HasPrefix(line, words) {
			n++
		}
	}
	return n
}

// await waits until the condition holds.
func (p *program) await(what string, holds func() bool) {
	p.Helper()
	for until := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.Fatalf("%s: not after 30 s; the program said %q", what, p.lines)
		}
	}
}

// info returns the window as the list has it; empty if it is not listed.
func (p *program) info() desktop.WindowInfo {
	p.Helper()
	list, err := p.Windows(p.Context())
	assert.NilError(p, err)
	for _, w := range list {
		if w.ID == p.id {
			return w
		}
	}
	return desktop.WindowInfo{}
}

// childPoint returns a point of the child window on the screen.
func (p *program) childPoint() desktop.Point {
	w := p.window()
	origin := w.ToClient(desktop.Point{})
	return desktop.Point{X: 50 + 20 - origin.X, Y: 60 + 30 - origin.Y}
}
