package gateway_test

import (
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

// A scenario is everything that can happen to one call, as data.
type scenario struct {
	Fault                bool
	App, Tool            string
	Args                 map[string]any
	Answers              string // of the call to all questions: "", "yes" or "no"
	Target               string // "" for none, or the value of the argument "app"
	Catalog              string
	Params, Returns, Run string
	Effect               aai.Effect
	Gates                []string
	Dialog               string
	Journal              string
	FailAt               int // which record fails, from 0
	Cancel               string
}

// plain is the scenario in which everything works.
func plain() scenario {
	return scenario{
		App: "org.example.App", Tool: "work", Catalog: works, Params: works, Returns: works,
		Run: works, Gates: []string{works}, Dialog: absent, Journal: works, Cancel: never,
	}
}

// scenarios draws a scenario. In most of them most parts work, so that calls
// get far enough to meet every other part.
func scenarios() *rapid.Generator[scenario] {
	return rapid.Custom(func(t *rapid.T) scenario {
		mostly := func(label, usual string, others ...string) string {
			if evenly(t, 8, label+" usual") < 7 {
				return usual
			}
			return others[evenly(t, len(others), label)]
		}
		s := scenario{
			Fault:   evenly(t, 32, "fault") == 31,
			App:     mostly("app", "org.example.App", "org.example.Missing", ""),
			Tool:    mostly("tool", "work", "wrok", ""),
			Args:    arguments().Draw(t, "args"),
			Answers: mostly("answers", "", "yes", "no"),
			Target:  mostly("target", "", "org.example.Other", "org.example.Missing", "a number"),
			Catalog: mostly("catalog", works, absent, fails, panics, nothing),
			Params:  mostly("params", works, absent, refuses, fails, panics, noObject, defaults),
			Returns: mostly("returns", works, absent, refuses, panics),
			Run: oneOf(t, "run", works, absent, forbidden, answersNil, answersBoth, refuses, failsInside,
				fails, panics, exits, obeys, tarries, ignores),
			Effect:  aai.Effect(evenly(t, 3, "effect")),
			Gates:   gates(t),
			Dialog:  oneOf(t, "dialog", works, absent, refuses, fails, panics),
			Journal: mostly("journal", works, absent, fails, panics),
			FailAt:  evenly(t, 3, "failAt"),
			Cancel:  mostly("cancel", never, before, during),
		}
		if s.Target != "" {
			s.Args = maps.Clone(s.Args)
			if s.Args == nil {
				s.Args = map[string]any{}
			}
			s.Args["app"] = s.Target
			if s.Target == "a number" {
				s.Args["app"] = 1.0
			}
		}
		return s
	})
}

// evenly draws a number below n. The integers of rapid favour the small ones;
// its bits do not.
func evenly(t *rapid.T, n int, label string) int {
	drawn := 0
	for i := range 5 {
		if rapid.Bool().Draw(t, fmt.Sprintf("%s bit %d", label, i)) {
			drawn |= 1 << i
		}
	}
	return drawn % n
}

func oneOf(t *rapid.T, label string, ways ...string) string {
	return ways[evenly(t, len(ways), label)]
}

// gates draws none to three gates, most of which can be passed.
func gates(t *rapid.T) []string {
	var ways []string
	for i := range (evenly(t, 16, "gates") + 6) / 7 {
		ways = append(ways, oneOf(t, fmt.Sprintf("gate %d", i),
			works, works, works, works, works, works, asks, asks, asksClient, asksClient, insists, refuses, fails, panics))
	}
	return ways
}

// arguments draws possible arguments of a caller, sometimes with a secret.
func arguments() *rapid.Generator[map[string]any] {
	value := rapid.OneOf(
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil),
		rapid.Just[any]([]any{"a", map[string]any{"b": 1.0}}),
		rapid.Just[any](map[string]any{"deep": map[string]any{"deeper": []any{true}}}),
	)
	return rapid.Custom(func(t *rapid.T) map[string]any {
		args := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,6}`), value, 0, 4).Draw(t, "values")
		switch evenly(t, 4, "form") {
		case 0:
			return nil
		case 1:
			args["password"] = secretValue
		case 2:
			args["password"] = map[string]any{"of": []any{secretValue}}
		}
		return args
	})
}

// A fate is the required result of a call.
type fate struct {
	code      aai.Code // returned by Do
	outcome   aai.Code // recorded in the outcome
	runs      bool
	questions int
}

// lines are the kinds of the lines that the call makes, as far as it comes where they
// are kept.
func (s scenario) lines() []aai.EntryKind {
	var kinds []aai.EntryKind
	if s.asksPerson() {
		kinds = append(kinds, aai.Received)
	}
	failed := len(kinds) > 0 && s.recordFails(0)
	if s.fateOnRecord().runs && s.Effect != aai.Reads && !failed {
		kinds = append(kinds, aai.Intent)
	}
	return append(kinds, aai.Outcome)
}

// fate returns the required result of the call, derived from the documentation and not from the
// code.
func (s scenario) fate() fate {
	if s.Journal == absent {
		return fate{code: aai.RecordFailed}
	}
	f := s.fateOnRecord()
	lines := s.lines()
	for i := range lines[:len(lines)-1] {
		if s.recordFails(i) {
			f = fate{code: aai.RecordFailed}
		}
	}
	f.outcome = f.code
	if s.recordFails(len(lines) - 1) {
		f.code, f.questions = aai.RecordFailed, 0
	}
	return f
}

func (s scenario) recordFails(n int) bool { return s.Journal != works && s.FailAt == n }

// asksPerson reports whether the gateway's own dialog is to be shown.
func (s scenario) asksPerson() bool {
	if s.unfit() != "" || len(s.Gates) == 0 || s.Dialog == absent || s.Cancel == before {
		return false
	}
	asked, code := s.round(s.Answers)
	return code == "" && len(asked) > 0 && !slices.Contains(asked, asksClient)
}

// fateOnRecord is fate where all is recorded.
func (s scenario) fateOnRecord() fate {
	if code := s.unfit(); code != "" {
		return fate{code: code}
	}
	code, questions := s.admission()
	if _, refused := s.round(s.Answers); s.Cancel == before && len(s.Gates) > 0 && refused == "" {
		return fate{code: aai.AutomationFailed}
	}
	if code != "" {
		return fate{code: code, questions: questions}
	}
	return fate{code: s.ending(), runs: true}
}

// unfit returns the code with which the call is refused before any gate runs.
func (s scenario) unfit() aai.Code {
	byCatalog := map[string]aai.Code{absent: aai.AppNotFound, fails: aai.AutomationFailed, panics: aai.Internal, nothing: aai.Internal}
	byParams := map[string]aai.Code{refuses: aai.InvalidParams, fails: aai.AutomationFailed, panics: aai.Internal, noObject: aai.Internal}
	byTarget := map[string]aai.Code{"org.example.Missing": aai.AppNotFound, "a number": aai.InvalidParams}
	switch {
	case s.Fault:
		return aai.InvalidParams
	case s.Catalog != works:
		return byCatalog[s.Catalog]
	case s.App != "org.example.App":
		return aai.AppNotFound
	case s.Tool != "work":
		return aai.ToolNotFound
	case s.Run == absent:
		return aai.AutomationNotSupported
	case s.Run == forbidden:
		return aai.PermissionDenied
	case s.Params == absent && len(s.Args) > 0:
		return aai.InvalidParams
	case byParams[s.Params] != "":
		return byParams[s.Params]
	}
	return byTarget[s.Target]
}

// admission returns the code with which the gates refuse the call, and the number of open
// questions.
func (s scenario) admission() (aai.Code, int) {
	if len(s.Gates) == 0 {
		return aai.PermissionDenied, 0
	}
	asked, code := s.round(s.Answers)
	if code != "" || len(asked) == 0 {
		return code, 0
	}
	switch {
	case s.Dialog == absent || s.Dialog == fails || slices.Contains(asked, asksClient):
		return aai.ConsentRequired, len(asked)
	case s.Dialog == panics:
		return aai.Internal, 0
	}
	answer := s.Answers // a provided answer is not asked for again
	if answer == "" {
		answer = map[string]string{works: "yes", refuses: "no"}[s.Dialog]
		if answer == "no" && asked[0] == insists {
			answer = "" // the no ended the questions before another gate's was put
		}
	}
	if asked, code = s.round(answer); code == "" && len(asked) > 0 {
		code = aai.ConsentRequired
	}
	return code, len(asked)
}

// round runs every gate once, with the answer for all questions.
func (s scenario) round(answer string) (asked []string, code aai.Code) {
	for _, way := range s.Gates {
		switch {
		case way == refuses, answer == "no" && (way == asks || way == asksClient):
			return nil, aai.PermissionDenied
		case way == fails:
			return nil, aai.AutomationFailed
		case way == panics:
			return nil, aai.Internal
		case way == insists, answer == "" && (way == asks || way == asksClient):
			asked = append(asked, way)
		}
	}
	return asked, ""
}

// ending returns the code with which the Action ends.
func (s scenario) ending() aai.Code {
	switch s.Run {
	case answersBoth, refuses, failsInside:
		return aai.AppNotRunning
	case fails:
		return aai.AutomationFailed
	case panics, exits:
		return aai.Internal
	case obeys, ignores:
		if s.Cancel == never {
			return aai.Timeout
		}
		return aai.AutomationFailed
	}
	if s.Returns == panics && s.Run != answersNil {
		return aai.Internal
	}
	return ""
}
