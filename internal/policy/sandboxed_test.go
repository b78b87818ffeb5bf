package policy

import (
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestSandboxedCallsOnlyRead checks sandboxed calls in every mode.
func TestSandboxedCallsOnlyRead(t *testing.T) {
	natural := asking(notesApp("d"), "list")
	tool := *natural.Tool
	tool.Assess = aai.Always(aai.Assessment{EffectInherent: true})
	natural.Tool = &tool
	starts := operating(program("editor", "e"), "look")
	starts.Call.Target.PID = 0
	calling := ownRequest(aai.DoorMCP, "several", aai.Destroys)
	calling.Tool.Assess = aai.Always(aai.Assessment{OnlyMakesCalls: true})
	for name, c := range map[string]struct {
		r    *aai.Request
		want string
	}{
		"reads":                 {natural, "admits"},
		"is said to read":       {asking(notesApp("d"), "list"), "PERMISSION_DENIED"},
		"changes":               {asking(notesApp("d"), "add"), "PERMISSION_DENIED"},
		"clicks":                {operating(program("editor", "e"), "click"), "PERMISSION_DENIED"},
		"looks at a window":     {operating(program("editor", "e"), "look"), "admits"},
		"starts a program":      {starts, "PERMISSION_DENIED"},
		"the gateway's, reads":  {ownRequest(aai.DoorMCP, "guide", aai.Reads), "admits"},
		"the gateway's, writes": {ownRequest(aai.DoorCLI, "mode_set", aai.Changes), "PERMISSION_DENIED"},
		"makes calls":           {calling, "admits"},
	} {
		for _, modes := range []*ModeGate{nil, {Configured: Safe}, {Configured: Sandboxed}} {
			if name == "makes calls" && modes.Current() == Sandboxed {
				c.want = "PERMISSION_DENIED" // the mode refuses more than the argument
			}
			c.r.Sandboxed = true
			if got := check(modes, c.r); got != c.want {
				t.Errorf("%s, %s: %s, expected %s", name, modes.Current(), got, c.want)
			}
		}
	}
}
