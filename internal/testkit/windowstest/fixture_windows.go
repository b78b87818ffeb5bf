package windowstest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// titleVariable is the environment variable that makes a test binary the program of a [Fixture]. Its value is the window's title.
const titleVariable = "AAI_TEST_WINDOW_TITLE"

// Main runs the tests, or the program of a fixture if this process was started as one.
func Main(m *testing.M) {
	if title := os.Getenv(titleVariable); title != "" {
		runProgram(title)
	}
	os.Exit(m.Run())
}

// A Fixture is a window with one control of every kind. Its controls and its state are those of Session.Fixture in package
// linuxtest, except that its state has no scroll position. Wine shows menus only to their own program; there a dead button named File
// stands beside the menu bar.
type Fixture struct {
	PID   int
	Title string   // of its window
	Lacks []string // keys of the state that other programs cannot change

	mu     sync.Mutex // serializes questions
	ask    io.Writer
	answer *bufio.Scanner
}

// Start opens the window, 700 by 640 pixels, and waits until it shows. The program ends with the test.
func Start(t testing.TB) *Fixture {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := &Fixture{Title: "Win32 fixture of " + t.Name()}
	if IsWine() {
		f.Lacks = []string{"menu"}
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), titleVariable+"="+f.Title)
	cmd.Stderr = os.Stderr
	if f.ask, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	f.PID, f.answer = cmd.Process.Pid, bufio.NewScanner(out)
	f.answer.Buffer(nil, 1<<20)
	f.State(t)
	return f
}

// State returns the program's state as encoding/json reads it: numbers are float64. The program answers on a thread of its own.
func (f *Fixture) State(t testing.TB) map[string]any {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := fmt.Fprintln(f.ask); err != nil || !f.answer.Scan() {
		t.Fatalf("%s does not tell its state: %v, %v", f.Title, err, f.answer.Err())
	}
	var state map[string]any
	if err := json.Unmarshal(f.answer.Bytes(), &state); err != nil {
		t.Fatal(err)
	}
	return state
}

// WaitState waits up to a minute until the state has the value, as encoding/json reads it.
func (f *Fixture) WaitState(t testing.TB, key string, want any) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		got := f.State(t)[key]
		if reflect.DeepEqual(got, want) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the program's %s is %v, want %v", key, got, want)
		}
	}
}

// Suspend makes all threads of the program hang.
func (f *Fixture) Suspend(t testing.TB) { f.change(t, "NtSuspendProcess") }

// Continue resumes the program.
func (f *Fixture) Continue(t testing.TB) { f.change(t, "NtResumeProcess") }

// Kill ends the program.
func (f *Fixture) Kill(t testing.TB) { f.change(t, "NtTerminateProcess") }

// change calls a function of ntdll.dll with the handle of the program.
func (f *Fixture) change(t testing.TB, function string) {
	t.Helper()
	const suspendResume = 0x0800 // PROCESS_SUSPEND_RESUME
	handle, err := windows.OpenProcess(suspendResume|windows.PROCESS_TERMINATE, false, uint32(f.PID))
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(handle) //nolint:errcheck // nothing depends on it
	if status, _, _ := windows.NewLazySystemDLL("ntdll.dll").NewProc(function).Call(uintptr(handle), 1); status != 0 {
		t.Fatalf("%s: status %#x", function, status)
	}
}

// Foreground returns the person's window and pointer: the handle of the active window and the pointer's position.
func Foreground() string {
	var at struct{ x, y int32 }
	//nolint:gosec // the system fills in the position
	_, _, _ = windows.NewLazySystemDLL("user32.dll").NewProc("GetCursorPos").Call(uintptr(unsafe.Pointer(&at)))
	return fmt.Sprintf("window %#x, pointer %d,%d", windows.GetForegroundWindow(), at.x, at.y)
}

// IsWine reports whether Wine runs this process.
func IsWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}
