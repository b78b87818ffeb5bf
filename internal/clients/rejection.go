package clients

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients/splice"
)

// rejection returns why the client would not start the gateway with the plan's file, or nil.
func (r *Installer) rejection(p *Plan, c client) error {
	file := aai.CleanLabel(p.Client.File, 300)
	if extra := splice.ExtraIn(p.old, c.rejects...); extra != nil && p.at.splicePlace().Format == splice.JSON {
		e := aai.Errorf(aai.InvalidParams, "%s: %w: %s would not read the file; nothing was written", file, extra, c.name)
		e.Hint = "Take it out, and run this again."
		return e
	}
	if !c.hasServerLists {
		return nil
	}
	lists := splice.Others(p.old, splice.Place{Format: splice.JSON, Name: "\x00"})["mcp"]
	for name, isListed := range map[string]bool{"excluded": false, "allowed": true} {
		list, given := lists[name].([]any)
		if !given || slices.Contains(list, any(EntryName)) == isListed {
			continue
		}
		e := aai.Errorf(aai.InvalidParams, "%s: mcp.%s: %s would not start %s; nothing was written", file, name, c.name, EntryName)
		e.Hint = "Take " + EntryName + " out of the list mcp.excluded, and run this again."
		if isListed {
			e.Hint = "Put " + EntryName + " into the list mcp.allowed, or remove the list, and run this again."
		}
		return e
	}
	return nil
}

// switchedOff returns a note about a field of the gateway's entry that switches it off in the client.
func (p *Plan) switchedOff(found map[string]any) []string {
	for _, name := range []string{"disabled", "enabled", "active", "isActive"} {
		if off, given := found[name].(bool); given && off == (name == "disabled") {
			value, _ := json.Marshal(off) // a boolean
			return []string{"The entry " + strings.Join(append(p.at.splicePlace().Path, EntryName), ".") + " has " + name + ": " +
				string(value) + ", so " + p.Client.Name + " does not start it. It stays so: switch it on there."}
		}
	}
	return nil
}
