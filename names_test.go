package aai_test

import (
	"testing"

	"github.com/gybob/aai-gateway"
)

// A caller may ask for an app by any of its names and by nothing else.
func TestAppNamed(t *testing.T) {
	app := &aai.App{ID: "org.example.Mail_1", Name: "Mail|邮件", Aliases: []string{"post"}}
	for name, want := range map[string]bool{
		"org.example.Mail_1": true, "ORG.example.mail_1": true, "app:org.example.Mail_1": true, app.WireName(): true,
		"mail": true, "邮件": true, "Post": true,
		"": false, "Mail|邮件": false, "org.example.Mail": false, "app:mail": false, "app_org_example_Mail_1": false,
	} {
		if app.HasName(name) != want {
			t.Errorf("Named(%q) = %v", name, !want)
		}
	}
	if new(aai.App).HasName("") {
		t.Error("nothing is a name")
	}
}
