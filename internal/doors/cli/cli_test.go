package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// TestScripts runs the whole command line in this process, against a world of
// its own for each script. The commands of the scripts:
//
//	aai CODE ARG...    runs a command line that must end with the exit code
//	tty WIDTH          puts the person at a terminal; 0 takes the terminal away
//	type LINE...       what the person types at the next questions
//	input FILE         the standard input of the next commands
//	set WORD           something is different in this world; see below
//	journal            prints what is on record, and forgets it
//
// With UPDATE_SCRIPTS=1 in the environment the expected outputs are written anew.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Values["script"] = &script{world: newWorld()}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"aai": func(ts *testscript.TestScript, _ bool, args []string) { scriptOf(ts).aai(ts, args) },
			"tty": func(ts *testscript.TestScript, _ bool, args []string) { scriptOf(ts).tty(ts, args) },
			"type": func(ts *testscript.TestScript, _ bool, args []string) {
				scriptOf(ts).world.typed = strings.Join(args, "\n")
			},
			"input":   func(ts *testscript.TestScript, _ bool, args []string) { scriptOf(ts).input = ts.ReadFile(args[0]) },
			"set":     func(ts *testscript.TestScript, _ bool, args []string) { scriptOf(ts).set(ts, args[0]) },
			"journal": func(ts *testscript.TestScript, _ bool, _ []string) { scriptOf(ts).journal(ts) },
		},
	})
}

// script is one running script.
type script struct {
	world  *world
	width  int
	input  string
	noDemo bool
}

func scriptOf(ts *testscript.TestScript) *script { return ts.Value("script").(*script) }

func (s *script) aai(ts *testscript.TestScript, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	cfg := s.world.config(strings.NewReader(s.input), ts.Stdout(), ts.Stderr())
	if s.noDemo {
		cfg.RunDemo = nil
	}
	if s.width > 0 {
		cfg.Terminal = cli.Terminal{Out: true, Err: true, Width: s.width, Ask: s.world.ask(ts.Stderr()), Secret: s.world.ask(ts.Stderr())}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.world.cancel = cancel
	if got := cli.Run(ctx, cfg, args[1:]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func (s *script) tty(ts *testscript.TestScript, args []string) {
	width, err := strconv.Atoi(args[0])
	ts.Check(err)
	s.width = width
}

func (s *script) set(ts *testscript.TestScript, word string) {
	switch word {
	case "nodemo":
		s.noDemo = true
	case "stale":
		s.world.stale = true
	case "fresh":
		s.world.stale = false
	case "alone":
		s.world.noClients = true
	case "badconfig":
		s.world.refuse = errors.New("config.json: no such key \"lgo\"")
	default:
		ts.Fatalf("nothing is called %q", word)
	}
}

func (s *script) journal(ts *testscript.TestScript) {
	out := ts.Stdout()
	ids := make(map[string]string)
	name := func(id string) string {
		if id != "" && ids[id] == "" {
			ids[id] = fmt.Sprintf("#%d", len(ids)+1)
		}
		return ids[id]
	}
	for _, e := range s.world.entries {
		line := strings.Join([]string{string(e.Kind), name(e.Call), name(e.Parent), e.Caller.Door, e.Caller.Name, e.Caller.Session, e.App, e.Tool, e.Consent, string(e.Code)}, " ")
		_, err := fmt.Fprintln(out, strings.Join(strings.Fields(line), " "))
		ts.Check(err)
	}
	for _, address := range s.world.lookups {
		_, err := fmt.Fprintln(out, "lookup", address)
		ts.Check(err)
	}
	s.world.entries, s.world.lookups = nil, nil
}

// config is a Config of the world with everything set.
func (w *world) config(in io.Reader, out, errOut io.Writer) cli.Config {
	return cli.Config{
		Version: "1.2.3", OpenGateway: w.open, In: in, Out: out, Err: errOut, Session: "tty7",
		ServeMCP: func(_ context.Context, f cli.Flags, o cli.ServeOptions) error {
			_, err := fmt.Fprintf(out, "serving, http %v, flags %+v, changes %v\n", o.HTTP, f, o.Changes)
			return err
		},
		HTTPTokens: func(cli.Flags) (cli.Tokens, error) { return &w.tokens, nil },
		HTTPToken:  func(_ cli.Flags, rotate bool) (string, error) { return fmt.Sprintf("secret, new %v", rotate), nil },
		ShowConfig: func(f cli.Flags) ([]answer.SettingOrigin, error) {
			if f.Config == "bad.json" {
				return nil, aai.Errorf(aai.InvalidParams, "bad.json: no such key \"lgo\"")
			}
			return []answer.SettingOrigin{
				{Name: "log_level", Value: "warn", Origin: "default"},
				{Name: "scan_paths", Value: []string{"~/.aai"}, Origin: "~/.aai/config.json"},
			}, nil
		},
		Clients: func(cli.Flags) (cli.Clients, error) { return someClients{w}, nil },
		RunDemo: func(_ context.Context, _ cli.Flags, out io.Writer) error {
			_, err := fmt.Fprintln(out, "this is the demo")
			return err
		},
	}
}
