package dialog

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// racing makes the test binary another gateway that types.
const racing = "DIALOG_TEST_TYPES"

func TestMain(m *testing.M) {
	if os.Getenv(racing) != "" {
		typeFor(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// typeFor types each line of in into a window, like a call that was admitted before: it
// brings the window to the front and types 99,000 characters. An empty line ends it.
func typeFor(in io.Reader, out io.Writer) {
	d := screenOf(os.Getenv, inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: os.Getenv}))
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var id uint64
		var pattern string
		if _, err := fmt.Sscanf(lines.Text(), "%d %q", &id, &pattern); err != nil {
			_, _ = fmt.Fprintln(out, err)
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		window, ended := desktop.WindowID(id), make(chan error, 1)
		err := d.Activate(ctx, window)
		for err != nil && ctx.Err() == nil { // the window manager may be busy
			err = d.Activate(ctx, window)
		}
		_, _ = fmt.Fprintf(out, "types %v\n", err)
		go func() {
			ended <- d.Type(ctx, desktop.PersonSeat, window, strings.Repeat(pattern, 99_000/len(pattern)))
		}()
		told := make(chan struct{})
		go func() { lines.Scan(); close(told) }()
		select {
		case err = <-ended:
			_, _ = fmt.Fprintf(out, "%q\n", fmt.Sprint(err))
			<-told
		case <-told:
			cancel()
			_, _ = fmt.Fprintf(out, "%q\n", fmt.Sprint(<-ended))
		}
		cancel()
	}
}

// patterns returns the texts that press buttons of dialogs: their keys, and the letters
// that may be their mnemonics.
func patterns() []string {
	return []string{"\t ", "\t\t ", "\t", " ", "\n", "\t\n", "\t\t\n", "ao \t", "AOyY\n", "dm\t "}
}

// managers returns the window managers of the race. The first is that of every session.
func managers() []string { return []string{"openbox", "xfwm4"} }

// rounds returns the number of rounds; AAI_RACE_ROUNDS overrides it.
func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("AAI_RACE_ROUNDS")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	assert.NilError(t, err)
	return n
}

// TestNobodyAnswersByTyping checks that a question during another gateway's typing of
// tabs, spaces and letters stays open until a person answers, or ends unanswered.
func TestNobodyAnswersByTyping(t *testing.T) {
	n := rounds(t)
	arenas := len(managers()) * len(programs())
	i := 0
	for _, manager := range managers() {
		for program := range programs() {
			share := (n + arenas - 1 - i) / arenas
			i++
			t.Run(manager+"/"+program, func(t *testing.T) {
				a := newArena(t, manager, program)
				for round := range share {
					a.round(patterns()[(round*3+i)%len(patterns())], round%2 == 1)
				}
			})
		}
	}
}

// An arena is a session with a window that another gateway types into.
type arena struct {
	t       *testing.T
	session *linuxtest.Session
	program string
	window  string
	tell    io.Writer
	heard   chan string
}

func newArena(t *testing.T, manager, program string) *arena {
	t.Helper()
	s := linuxtest.Start(t)
	if manager != managers()[0] {
		s.Launch(t, manager, "--replace", "--compositor=off")
		awaitManager(t, s, manager)
	}
	return startArena(t, s, program, s.Fixture(t, linuxtest.GTK3).Window(t))
}

// startArena starts another gateway that types into the window.
func startArena(t *testing.T, s *linuxtest.Session, program, window string) *arena {
	t.Helper()
	a := &arena{t: t, session: s, program: program, window: window, heard: make(chan string, 1)}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(s.Env, racing+"=1")
	p := testkit.StartProcess(t, cmd)
	a.tell = p.In
	go func() {
		defer close(a.heard)
		for lines := bufio.NewScanner(p.Out); lines.Scan(); {
			a.heard <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		for range a.heard {
		}
		_ = p.Wait()
	})
	return a
}

// awaitManager waits until the window manager has taken over.
func awaitManager(t *testing.T, s *linuxtest.Session, name string) {
	t.Helper()
	for until := time.Now().Add(testPatience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		cmd := exec.CommandContext(t.Context(), "xprop", "-root", "-notype", "_NET_SUPPORTING_WM_CHECK")
		cmd.Env = s.Env
		out, _ := cmd.Output()
		_, id, _ := strings.Cut(strings.TrimSpace(string(out)), "# ")
		cmd = exec.CommandContext(t.Context(), "xprop", "-id", id, "-notype", "_NET_WM_NAME")
		cmd.Env = s.Env
		if out, _ := cmd.Output(); strings.Contains(strings.ToLower(string(out)), name) {
			s.AwaitWindowManager(t) // it sets its name before it listens
			return
		}
	}
	t.Fatalf("%s does not manage the windows", name)
}

// round shows one question while the other gateway types.
func (a *arena) round(pattern string, load bool) {
	a.t.Helper()
	if load {
		defer busy(a.t)()
	}
	_, err := fmt.Fprintf(a.tell, "%s %q\n", a.window, pattern)
	assert.NilError(a.t, err)
	if said := <-a.heard; said != "types <nil>" {
		a.t.Fatalf("the other gateway does not type: %s", said)
	}
	said := ""
	defer func() {
		_, _ = fmt.Fprintln(a.tell)
		if said == "" {
			said = <-a.heard
		}
		a.t.Logf("%q, load %v: the other gateway says %s", pattern, load, said)
	}()
	time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
	ctx, cancel := context.WithCancel(a.t.Context())
	defer cancel()
	d := realDialog(a.t, a.session, a.program)
	d.readable = 0 // the answer must not be rejected only for its time
	ended := make(chan error, 1)
	var answer aai.Answer
	go func() {
		var err error
		answer, err = d.Ask(ctx, consent())
		ended <- err
	}()
	open := make(chan struct{})
	go func() {
		defer close(open)
		openDialog{t: a.t, session: a.session, open: func() int { return d.scheduler.read().Open }}.seen()
		time.Sleep(readable + 3*bigToolkitStart) // no answer comes meanwhile
	}()
	select {
	case err := <-ended:
		<-open
		a.t.Errorf("%q, load %v: %+v, %v, and nobody was there", pattern, load, answer, err)
		return
	case <-open:
	}
	select {
	case said = <-a.heard:
		a.t.Errorf("%q, load %v: the other gateway did not wait: %s", pattern, load, said)
	default:
	}
	cancel()
	assert.Check(a.t, (<-ended) != nil, "%q, load %v: %+v, and nobody was there", pattern, load, answer)
}

// busy keeps the processors busy until stop is called.
func busy(t *testing.T) (stop func()) {
	t.Helper()
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for range 4 {
		all.Go(func() { _ = exec.CommandContext(ctx, "sh", "-c", "while :; do :; done").Run() })
	}
	return func() { cancel(); all.Wait() }
}
