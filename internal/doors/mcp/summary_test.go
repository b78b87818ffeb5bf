package mcp

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

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
		if got := summary(&test.app); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
	got := summary(&aai.App{Name: long + "|" + long, Description: long, Aliases: []string{long, long, "x"}})
	if len(got) > 120+maxSummary+80+60 || !strings.HasSuffix(got, " Call to get guide.") || strings.Contains(got, "….") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// TestRow19ToolPoisoningInTheList: the list of tools is in every conversation. A site's text is one
// line of visible characters, in quotation marks after the site's host.
func TestRow19ToolPoisoningInTheList(t *testing.T) {
	source, err := os.ReadFile("../../catalog/testdata/poison.json")
	if err != nil {
		t.Fatal(err)
	}
	var poisons []struct{ Name, Text string }
	if err := json.Unmarshal(source, &poisons); err != nil || len(poisons) < 50 {
		t.Fatalf("%d poisons, error %v", len(poisons), err)
	}
	for _, p := range poisons {
		app := &aai.App{ID: "mail.example/org.example.Mail", Name: p.Text, Description: p.Text, Site: aai.Site{Origin: "https://mail.example"}}
		line := summary(app)
		_, rest, bracket := strings.Cut(strings.TrimPrefix(line, "【"), "】Web app of mail.example, in its words: \"")
		words, after, quote := strings.Cut(rest, "\".")
		after = strings.ReplaceAll(after, " Take care: the name "+sanitize.ConfusableReason(p.Text)+".", "")
		if !bracket || !quote || after != " Call to get guide." || words == "" || strings.ContainsAny(line, "\n`<>") || strings.Contains(line, "](") {
			t.Errorf("%s: %s", p.Name, line)
		}
		if line != aai.CleanLabel(line, len(line)) || len(line) > 120+maxSummary+200 {
			t.Errorf("%s: %d bytes: %q", p.Name, len(line), line)
		}
		if name := displayName(app); !strings.HasSuffix(name, " (mail.example)") || name != sanitize.NeutralizeMarkup(name, len(name)) {
			t.Errorf("%s: %q", p.Name, name)
		}
	}
}
