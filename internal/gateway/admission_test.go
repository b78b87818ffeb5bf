package gateway_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// A joiner is a gate that asks about everything, and about several calls at once.
type joiner struct {
	held   int  // reservations
	open   bool // it admits all
	most   int  // of how many calls it makes one question; 0: of all
	closed bool // refuses admitted calls when they run
}

func (j *joiner) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if !r.HasReservation(j) {
		j.held++
		r.Reserve(j, func() { j.held-- })
	}
	switch answer, answered := r.Call.Answers["q"]; {
	case r.AdmittedPermission != "" && j.closed, r.Call.Tool == "refused", answered && answer.Choice != "yes":
		return nil, aai.Errorf(aai.PermissionDenied, "the gate says no to %s", r.Call.Tool)
	case r.AdmittedPermission == "" && !answered && !j.open:
		return []aai.Question{{ID: "q", Text: r.Call.Tool, Channels: []aai.Channel{aai.DesktopDialog, aai.Client}}}, nil
	}
	return nil, nil
}

func (j *joiner) MergeQuestions(asked []aai.PendingQuestion) (aai.Question, bool) {
	one := asked[0].Question
	if j.most > 0 && len(asked) > j.most {
		return one, false
	}
	for _, a := range asked[1:] {
		one.Text += "+" + a.Request.Call.Tool
	}
	return one, true
}

// together returns a gateway with a joiner gate and equal tools "one", "two" and "refused".
func together(answer string) (g *gateway.Gateway, w *world, gate *joiner, asked *[]string) {
	w, gate, asked = newWorld(plain()), &joiner{}, &[]string{}
	tool := *w.app.Tools[0]
	w.app.Tools = nil
	for _, name := range []string{"one", "two", "refused"} {
		t := tool
		t.Name = name
		w.app.Tools = append(w.app.Tools, &t)
	}
	g = w.gateway()
	g.Gates = []aai.Gate{gate}
	g.Dialog = asker(func(_ context.Context, q aai.Question) (aai.Answer, error) {
		*asked = append(*asked, q.Text)
		return aai.Answer{Choice: answer, Channel: aai.DesktopDialog}, nil
	})
	return g, w, gate, asked
}

func tool(name string) *aai.Call {
	return &aai.Call{Caller: aai.Caller{Door: "test"}, App: "org.example.App", Tool: name}
}

// outcomes are how the calls ended, by their tools.
func (w *world) outcomes() map[string]aai.Code {
	ended := map[string]aai.Code{}
	for _, s := range w.steps() {
		if s.what == string(aai.Outcome) {
			ended[s.entry.Tool] = s.entry.Code
		}
	}
	return ended
}

// TestAdmit: one question covers several calls, nothing runs before the answer, and each call
// runs once.
func TestAdmit(t *testing.T) {
	g, w, gate, asked := together("yes")
	a, err := g.Admit(t.Context(), tool("one"), tool("two"))
	if err != nil || len(*asked) != 1 || (*asked)[0] != "one+two" || w.count("run") != 0 || gate.held != 2 {
		t.Fatalf("%v, asked %q, %d ran, %d held", err, *asked, w.count("run"), gate.held)
	}
	for i := range 2 {
		if _, err := a.Run(t.Context(), i); err != nil || w.count("run") != i+1 || gate.held != 1-i {
			t.Errorf("call %d: %v, %d ran, %d held", i, err, w.count("run"), gate.held)
		}
	}
	for _, i := range []int{0, 1, 2, -1} {
		_, err := a.Run(t.Context(), i)
		_ = wantCode(t, err, aai.Internal)
	}
	a.Release()
	if got := w.outcomes(); w.count("run") != 2 || w.count(string(aai.Outcome)) != 2 || got["one"] != "" || got["two"] != "" || len(*asked) != 1 {
		t.Errorf("%d ran, outcomes %v, asked %q", w.count("run"), got, *asked)
	}
}

// TestOneRefusedNoneAdmitted: after a refusal by a gate or the person, all calls are recorded and
// no reservation remains.
func TestOneRefusedNoneAdmitted(t *testing.T) {
	for _, c := range []struct {
		answer, second, message string
		dialogs                 int
		first                   aai.Code
	}{
		{"yes", "refused", "the gate says no to refused", 0, aai.PermissionDenied},
		{"yes", "missing", "has no tool", 0, aai.ToolNotFound},
		{"no", "two", "the gate says no to one", 1, aai.PermissionDenied},
	} {
		g, w, gate, asked := together(c.answer)
		a, err := g.Admit(t.Context(), tool("one"), tool(c.second))
		if a != nil || err == nil || !strings.Contains(err.Error(), c.message) || len(*asked) != c.dialogs {
			t.Errorf("%s: %v, asked %q", c.second, err, *asked)
		}
		if got := w.outcomes(); len(got) != 2 || got["one"] != c.first || got[c.second] != c.first || w.count("run") != 0 || gate.held != 0 {
			t.Errorf("%s: outcomes %v, %d ran, %d held", c.second, got, w.count("run"), gate.held)
		}
	}
}

// TestAdmitAgainWithAnswers: a door that asks the question passes its answer with each call.
func TestAdmitAgainWithAnswers(t *testing.T) {
	g, w, gate, _ := together("")
	g.Dialog = nil
	_, err := g.Admit(t.Context(), tool("one"), tool("two"))
	e := wantCode(t, err, aai.ConsentRequired)
	if len(e.Questions) != 1 || e.Questions[0].Text != "one+two" || gate.held != 0 || len(w.outcomes()) != 2 {
		t.Fatalf("%+v, %d held", e.Questions, gate.held)
	}
	calls := []*aai.Call{tool("one"), tool("two")}
	for _, c := range calls {
		c.Answers = map[string]aai.Answer{"q": {Choice: "yes", Channel: aai.Client}}
	}
	a, err := g.Admit(t.Context(), calls...)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	if _, err := a.Run(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

// TestWhatIsNotRun: an admission that is released, expired or cancelled holds no reservation, and
// the calls are recorded as not run.
func TestWhatIsNotRun(t *testing.T) {
	for name, end := range map[string]func(a *gateway.Admission, cancel func()){
		"released": func(a *gateway.Admission, _ func()) { a.Release() },
		"expired":  func(*gateway.Admission, func()) { time.Sleep(time.Hour) },
		"gone":     func(_ *gateway.Admission, cancel func()) { cancel() },
	} {
		synctest.Test(t, func(t *testing.T) {
			g, w, gate, _ := together("yes")
			w.app.Tools[0].Run = func(context.Context, *aai.Call) (*aai.Result, error) {
				w.note(step{what: "run"})
				time.Sleep(toolTimeout / 2)
				return nil, nil
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			a, err := g.Admit(ctx, tool("one"), tool("two"))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Minute) // it rests, and no deadline passes
			if _, err := a.Run(ctx, 0); err != nil || gateway.QueueCount(g) != 0 {
				t.Errorf("%s: %v, %d lanes", name, err, gateway.QueueCount(g))
			}
			end(a, cancel)
			synctest.Wait()
			if got := w.outcomes(); gate.held != 0 || got["one"] != "" || got["two"] == "" || gateway.QueueCount(g) != 0 {
				t.Errorf("%s: %d held, outcomes %v, %d lanes", name, gate.held, got, gateway.QueueCount(g))
			}
			if _, err := a.Run(t.Context(), 1); err == nil || !aai.AsError(err).RetrySafe() || w.count("run") != 1 {
				t.Errorf("%s: %v, %d ran", name, err, w.count("run"))
			}
		})
	}
}

// TestAnAdmissionThatHangs ends by the deadline of the hanging call.
func TestAnAdmissionThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w, gate, _ := together("yes")
		hangs := make(chan bool)
		defer close(hangs)
		g.Gates = append(g.Gates, gateFunc(func(r *aai.Request) ([]aai.Question, error) {
			if r.Call.Tool == "two" {
				<-hangs
			}
			return nil, nil
		}))
		begun := time.Now()
		_, err := g.Admit(t.Context(), tool("one"), tool("two"))
		if e := wantCode(t, err, aai.Timeout); !e.RetrySafe() || time.Since(begun) > toolTimeout+grace {
			t.Errorf("after %s: %+v", time.Since(begun), e)
		}
		synctest.Wait()
		if got := w.outcomes(); gate.held != 0 || got["one"] != aai.Timeout || got["two"] != aai.Timeout {
			t.Errorf("%d held, outcomes %v", gate.held, got)
		}
	})
}

// TestRunLooksAgain: the gates check an admitted call again when it runs, and no person is asked.
func TestRunLooksAgain(t *testing.T) {
	for _, before := range []string{"", "yes"} { // without and with a question
		g, w, gate, asked := together("yes")
		gate.open = before == ""
		a, err := g.Admit(t.Context(), tool("one"))
		if err != nil {
			t.Fatal(err)
		}
		gate.open, gate.closed = false, true
		_, err = a.Run(t.Context(), 0)
		_ = wantCode(t, err, aai.PermissionDenied)
		if w.count("run") != 0 || len(*asked) != len(before)/3 || gate.held != 0 {
			t.Errorf("%d ran, asked %q, %d held", w.count("run"), *asked, gate.held)
		}
	}
}

// TestRunFindsTheTargetAgain: the program may have been restarted; another program with its name
// is not admitted.
func TestRunFindsTheTargetAgain(t *testing.T) {
	for digest, want := range map[string]aai.Code{"of the editor": "", "of another": aai.ConsentRequired} {
		now := &aai.App{ID: "desktop/editor", Digest: "of the editor", PID: 7}
		g, _, w := windows(aai.Changes, func(context.Context, *aai.Call, string) (*aai.App, error) { return now, nil })
		touched := 0
		w.app.Tools[0].Run = func(_ context.Context, c *aai.Call) (*aai.Result, error) { touched = c.Target.PID; return nil, nil }
		a, err := g.Admit(t.Context(), on("Editor"))
		if err != nil {
			t.Fatal(err)
		}
		now = &aai.App{ID: "desktop/editor", Digest: digest, PID: 8}
		if _, err = a.Run(t.Context(), 0); codeOf(err) != want || (touched == 8) != (want == "") {
			t.Errorf("%s: %v, touched %d", digest, err, touched)
		}
	}
}

// TestWithin: nested calls use the slot of their parent's program, one at a time at any depth,
// and have the outer call as parent.
func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const deep = 70
		var g *gateway.Gateway
		level, most := 0, 0
		g, w := inLanes(func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			if level++; level > most {
				most = level
			}
			defer func() { level-- }()
			if level == deep {
				time.Sleep(toolTimeout / 4)
				return nil, nil
			}
			if level > 1 {
				return g.Do(ctx, on("a"))
			}
			done := make(chan error)
			for range 2 {
				go func() { _, err := g.Do(ctx, on("a")); done <- err }()
			}
			for range 2 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			return nil, nil
		}, program("a", nil))
		if _, err := g.Do(t.Context(), on("a")); err != nil || most != deep {
			t.Fatalf("%v, %d deep", err, most)
		}
		if n := gateway.QueueCount(g); n != 0 {
			t.Errorf("%d lanes are remembered", n)
		}
		calls := map[string]bool{}
		parents := 0
		for _, s := range w.steps() {
			if s.what == string(aai.Intent) {
				if calls[s.entry.Call] = true; calls[s.entry.Parent] {
					parents++
				}
			}
		}
		if len(calls) != 2*deep-1 || parents != len(calls)-1 {
			t.Errorf("%d calls, %d with a parent on record", len(calls), parents)
		}
	})
}

// TestLeftBehindWithin: an abandoned nested call keeps the slot until it ends.
func TestLeftBehindWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acting, goOn := 0, make(chan bool)
		var g *gateway.Gateway
		g, _ = inLanes(func(ctx context.Context, c *aai.Call) (*aai.Result, error) {
			switch c.Args["what"] {
			case "parent":
				child := on("a")
				child.Args["what"] = "child"
				go func() { _, _ = g.Do(ctx, child) }()
				synctest.Wait()
				return nil, nil
			case "child":
				acting++
				<-goOn
				acting--
			default:
				if acting != 0 {
					t.Error("two act on one program")
				}
			}
			return nil, nil
		}, program("a", nil))
		parent := on("a")
		parent.Args["what"] = "parent"
		if _, err := g.Do(t.Context(), parent); err != nil || acting != 1 {
			t.Fatal(err, acting)
		}
		_, err := g.Do(t.Context(), on("a"))
		_ = wantCode(t, err, aai.Timeout)
		close(goOn)
		synctest.Wait()
		if _, err := g.Do(t.Context(), on("a")); err != nil {
			t.Error(err)
		}
	})
}

// TestAskedWithin: while a person is asked about a nested call, the deadline of the outer call is
// paused too.
func TestAskedWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w, _, asked := together("yes")
		outer := *w.app.Tools[0]
		outer.Name, outer.Assess = "outer", aai.Always(aai.Assessment{OnlyMakesCalls: true})
		outer.Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) { return g.Do(ctx, tool("one")) }
		w.app.Tools = append(w.app.Tools, &outer)
		dialog := g.Dialog
		g.Dialog = asker(func(ctx context.Context, q aai.Question) (aai.Answer, error) {
			time.Sleep(40 * time.Second)
			return dialog.Ask(ctx, q)
		})
		if _, err := g.Do(t.Context(), tool("outer")); err != nil || len(*asked) != 2 {
			t.Errorf("%v, asked %q", err, *asked)
		}
	})
}

// TestTooManyForOneQuestion: questions that a gate cannot merge into one are merged as far as
// possible.
func TestTooManyForOneQuestion(t *testing.T) {
	g, w, gate, asked := together("yes")
	gate.most = 4
	calls := make([]*aai.Call, 9)
	for i := range calls {
		calls[i] = tool("one")
	}
	a, err := g.Admit(t.Context(), calls...)
	if err != nil || len(*asked) != 3 || w.count("ask") != 0 {
		t.Fatalf("%v, asked %q", err, *asked)
	}
	a.Release()
}
