package script

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// SystemToolName is the tool of the desktop that runs a script in a language of the system. It is not listed: the tool ax_run_script
// calls it, so that the gates judge the script itself and the person is asked about it, each time and with its whole text.
const SystemToolName = "ax_run_system_script"

// A SystemRunner runs a script in a language of the system. Its error is an *aai.Error.
type SystemRunner func(ctx context.Context, call *aai.Call, language, script string) (*aai.Result, error)

// systemLanguages returns the languages of a SystemRunner.
func systemLanguages() []string { return []string{"applescript", "jxa"} }

const systemParams = `{"type": "object", "additionalProperties": false, "required": ["script", "language"], "properties": {
	"script": {"type": "string"},
	"language": {"type": "string", "enum": ["applescript", "jxa"]},
	"timeout_ms": {"type": "integer", "maximum": 300000, "default": 30000}}}`

// SystemTool returns the tool that runs scripts by run.
func SystemTool(run SystemRunner) *aai.Tool {
	return &aai.Tool{
		Name: SystemToolName, Title: "Run AppleScript or JXA", Description: "Run AppleScript or JXA, which can do anything that you can do.",
		Params: schema.MustParse(systemParams), Effect: aai.Destroys,
		Assess: aai.Always(aai.Assessment{EffectInherent: true, RunsScript: true, Kind: aai.KindScript, ElementParams: []string{}}),
		// A script may contain a secret; only the person sees it.
		Privacy: aai.Privacy{Secret: []string{"script"}, ShowSecrets: true, Result: true}, Limits: aai.Limits{Timeout: maxTime + endGrace, Unlisted: true},
		Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			ctx, cancel := context.WithTimeout(ctx, milliseconds(call.Args["timeout_ms"]))
			defer cancel()
			language, _ := call.Args["language"].(string)
			script, _ := call.Args["script"].(string)
			return run(ctx, call, language, script)
		},
	}
}

// isSystemScript reports whether a call of ax_run_script is for the tool of [SystemTool].
func (s *toolset) isSystemScript(call *aai.Call, app string) bool {
	language, _ := call.Args["language"].(string)
	return s.cfg.HasSystemTool && app == aai.DesktopApp && slices.Contains(systemLanguages(), language)
}

// runSystemScript calls the tool of [SystemTool].
func (s *toolset) runSystemScript(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	script, _ := call.Args["script"].(string)
	given, _ := call.Args["args"].(map[string]any)
	if script == "" || len(given) > 0 {
		return nil, notBegunError(aai.InvalidParams, "expected script without file and args, which are for JavaScript", "Write the values into the script, as texts with escaped quotes.")
	}
	inner := &aai.Call{Caller: call.Caller, App: aai.DesktopApp, Tool: SystemToolName, Answers: call.Answers, Args: map[string]any{"script": script, "language": call.Args["language"]}}
	if limit, given := call.Args["timeout_ms"]; given {
		inner.Args["timeout_ms"] = limit
	}
	return s.cfg.Gateway().Do(ctx, inner)
}
