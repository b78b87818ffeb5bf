package mcp

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
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
		{
			aai.App{Name: "Mail】x", Description: "Say \"hi\" <b> ![a](b).", Site: aai.Site{Origin: "https://mail.example"}, Aliases: []string{"`m`"}},
			"【Mail]x】Web app of mail.example, in its words: \"Say 'hi' ‹b› ![a] (b).\". Aliases: 'm'. Call to get guide.",
		},
		{aai.App{Name: "РayРal", Description: "Pays."}, "【РayРal】Pays. Take care: the name mixes Cyrillic and Latin letters in one word. Call to get guide."},
	} {
		assert.Check(t, is.Equal(summary(&test.app), test.want))
	}
	got := summary(&aai.App{Name: long + "|" + long, Description: long, Aliases: []string{long, long, "x"}})
	assert.Assert(t, len(got) <= 120+maxSummary+80+60, "%d bytes: %s", len(got), got)
	assert.Assert(t, strings.HasSuffix(got, " Call to get guide."), "%d bytes: %s", len(got), got)
	assert.Assert(t, !strings.Contains(got, "…."), "%d bytes: %s", len(got), got)
}

// TestRow19ToolPoisoningInTheList: the list of tools is in every conversation. A site's text is one
// line of visible characters, in quotation marks after the site's host.
func TestRow19ToolPoisoningInTheList(t *testing.T) {
	source, err := os.ReadFile("../../catalog/testdata/poison.json")
	assert.NilError(t, err)
	var poisons []struct{ Name, Text string }
	err = json.Unmarshal(source, &poisons)
	assert.NilError(t, err, "%d", len(poisons))
	assert.Assert(t, len(poisons) >= 50, "%d poisons, error %v", len(poisons), err)
	for _, p := range poisons {
		app := &aai.App{ID: "mail.example/org.example.Mail", Name: p.Text, Description: p.Text, Site: aai.Site{Origin: "https://mail.example"}}
		line := summary(app)
		_, rest, bracket := strings.Cut(strings.TrimPrefix(line, "【"), "】Web app of mail.example, in its words: \"")
		words, after, quote := strings.Cut(rest, "\".")
		after = strings.ReplaceAll(after, " Take care: the name "+sanitize.ConfusableReason(p.Text)+".", "")
		assert.Assert(t, bracket, "%s %s", p.Name, line)
		assert.Assert(t, quote, "%s %s", p.Name, line)
		assert.Equal(t, after, " Call to get guide.", "%s %s", p.Name, line)
		assert.Assert(t, words != "", "%s %s", p.Name, line)
		assert.Assert(t, !strings.ContainsAny(line, "\n`<>"), "%s %s", p.Name, line)
		assert.Assert(t, !strings.Contains(line, "]("), "%s %s", p.Name, line)
		assert.Check(t, is.Equal(line, aai.CleanLabel(line, len(line))), "%s %d", p.Name, len(line))
		assert.Check(t, len(line) <= 120+maxSummary+200, "%s: %d bytes: %q", p.Name, len(line), line)
		name := displayName(app)
		assert.Assert(t, strings.HasSuffix(name, " (mail.example)"), "%s %q", p.Name, name)
		assert.Equal(t, name, sanitize.NeutralizeMarkup(name, len(name)), p.Name)
	}
}
