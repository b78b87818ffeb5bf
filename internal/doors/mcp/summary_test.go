package mcp

import (
	"strings"
	"testing"

	"aai"
)

func TestSummary(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, test := range []struct {
		app  aai.App
		want string
	}{
		{aai.App{Name: "Reminders|提醒事项", Description: "macOS reminders", Aliases: []string{"todo", "待办"}}, "【Reminders|提醒事项】macOS reminders. Aliases: todo, 待办. Call to get guide."},
		{aai.App{Name: "Mail", Description: "Sends mail."}, "【Mail】Sends mail. Call to get guide."},
		{aai.App{Name: "Mail", Description: "Really?\x1b[2J\nYes!"}, "【Mail】Really?[2J Yes! Call to get guide."},
		{aai.App{Name: "Mail"}, "【Mail】Call to get guide."},
	} {
		if got := summary(&test.app); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
	got := summary(&aai.App{Name: long + "|" + long, Description: long, Aliases: []string{long, long, "x"}})
	if len(got) > 120+maxSummary+80+60 || !strings.HasSuffix(got, " Call to get guide.") || strings.Contains(got, "….") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
