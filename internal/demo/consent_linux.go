package demo

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// consentCommand returns the command that grants the consent a call lacked, or nil. A client
// cannot ask for consent to irreversible acts, and the demo's screen has no user for a dialog. So
// the simulated user grants it at a terminal.
func (a *agent) consentCommand(result *mcp.CallToolResult) []string {
	var refusal struct {
		Type  aai.Code `json:"type"`
		AppID string   `json:"app_id"`
		Tool  string   `json:"tool"`
		Hint  string   `json:"suggestion"` // names the agent's identity
	}
	if !result.IsError || remarshal(result.StructuredContent, &refusal) != nil || refusal.Type != aai.ConsentRequired {
		return nil
	}
	command := []string{"consent", "grant", refusal.AppID}
	switch {
	case refusal.Tool == aai.PermissionAct:
		command = append(command, aai.PermissionSee, aai.PermissionAct)
	case strings.HasPrefix(refusal.AppID, aai.DesktopApp):
		command = append(command, refusal.Tool)
	default:
		command = append(command, "--all")
	}
	_, who, _ := strings.Cut(refusal.Hint, " --identity ")
	return append(command, "--caller", "mcp:demo-agent", "--identity", strings.Trim(who, "'"))
}

// runCommand runs a command of this program as the user would at a terminal.
func (a *agent) runCommand(ctx context.Context, command []string) error {
	a.print("    the person (played by this demo) types: aai-gateway %s, and their passphrase\n", strings.Join(command, " "))
	_, err := a.desktop.gateway(ctx, command...)
	return err
}
